"""What became of the frames on the way between the hosts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from simnet.rows import Count, Row, Shown
from simnet.scenario.core.subject import Column, Measure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simnet.net.link.netem import Netem
    from simnet.net.qdisc.bottleneck import Bottleneck
    from simnet.scenario.system.system import Snapshot


@dataclass(frozen=True)
class Way:
    """One direction; `bottleneck` is None where nothing manages its queue."""

    netem: Netem
    bottleneck: Bottleneck | None


@dataclass(frozen=True)
class WayCounts:
    """Cumulative counters of one direction."""

    name: str
    sent: int
    lost: int
    dropped: int


@dataclass(frozen=True)
class WayMore:
    """What is counted of one direction beside; a run's fingerprint leaves it out."""

    reordered: int
    duplicated: int
    early: int
    marked: int


class WayUse(Row):
    """One direction of a way."""

    name: str = Field(description="from where to where")
    frames: Annotated[Count, Shown("frames")] = Field(description="that came")
    lost: Annotated[Count, Shown("lost")] = Field(description="by chance")
    dropped: Annotated[Count, Shown("over limit")] = Field(
        description="because more than the limit waited"
    )
    reordered: Annotated[Count, Shown("reordered")] = Field(
        description="that left before all that waited"
    )
    duplicated: Annotated[Count, Shown("copies")] = Field(description="copies that the way made")
    early: Annotated[Count, Shown("early")] = Field(
        description="dropped by RED or CoDel, though there was room"
    )
    marked: Annotated[Count, Shown("marked")] = Field(description="by RED or CoDel, as congested")
    lost_percent: Annotated[float | None, Shown("lost %", 4)] = Field(
        description="lost and dropped, early ones included, of all; null if none came"
    )


def counts_of(ways: Iterable[Way]) -> tuple[WayCounts, ...]:
    """Return the counters now."""
    return tuple(
        WayCounts(
            way.netem.name,
            way.netem.sent,
            way.netem.lost,
            way.netem.dropped + (way.bottleneck.qdisc.over_limit() if way.bottleneck else 0),
        )
        for way in ways
    )


def more_of(ways: Iterable[Way]) -> tuple[WayMore, ...]:
    """Return the other counters now."""
    return tuple(
        WayMore(
            way.netem.reordered,
            way.netem.duplicated,
            early=way.bottleneck.early if way.bottleneck else 0,
            marked=way.bottleneck.qdisc.marks() if way.bottleneck else 0,
        )
        for way in ways
    )


def _use(start: Snapshot, end: Snapshot) -> tuple[WayUse, ...]:
    found = []
    for first, last, before, after in zip(
        *(snapshot.more.get("netem", ()) for snapshot in (start, end)),
        *(snapshot.observed.get("netem", ()) for snapshot in (start, end)),
        strict=True,
    ):
        frames, gone = last.sent - first.sent, last.lost - first.lost
        dropped, early = last.dropped - first.dropped, after.early - before.early
        found.append(
            WayUse(
                name=last.name,
                frames=frames,
                lost=gone,
                dropped=dropped,
                reordered=after.reordered - before.reordered,
                duplicated=after.duplicated - before.duplicated,
                early=early,
                marked=after.marked - before.marked,
                lost_percent=100 * (gone + dropped + early) / frames if frames else None,
            )
        )
    return tuple(found)


def _lost(result: Any) -> float | None:
    rows: tuple[WayUse, ...] = result.netem
    frames = sum(row.frames for row in rows)
    gone = sum(row.lost + row.dropped + row.early for row in rows)
    return 100 * gone / frames if frames else None


def _marked(result: Any) -> float | None:
    rows: tuple[WayUse, ...] = result.netem
    frames = sum(row.frames for row in rows)
    return 100 * sum(row.marked for row in rows) / frames if frames else None


COLUMNS: Final = (
    Column(
        "netem",
        tuple[WayUse, ...],
        "what became of the frames on the way between the hosts, where one lies between",
        _use,
        table=True,
        measures={
            "way_lost_percent": Measure("lost on the way (%)", "lost%", _lost, digits=2),
            "way_marked_percent": Measure("marked on the way (%)", "marked%", _marked, digits=2),
        },
        order=16,
    ),
)
