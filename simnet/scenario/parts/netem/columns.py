"""What became of the frames on the way between the hosts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pydantic import Field

from simnet.rows import Count, Row
from simnet.scenario.core.subject import Column, Measure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simnet.net.link.netem import Netem
    from simnet.scenario.system.system import Snapshot


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


class WayUse(Row):
    """One direction of a way."""

    name: str = Field(description="from where to where")
    frames: Count = Field(description="that came")
    lost: Count = Field(description="by chance")
    dropped: Count = Field(description="because more than the limit waited")
    reordered: Count = Field(description="that left before all that waited")
    duplicated: Count = Field(description="copies that the way made")
    lost_percent: float | None = Field(description="lost and dropped, of all; null if none came")


def counts_of(ways: Iterable[Netem]) -> tuple[WayCounts, ...]:
    """Return the counters now."""
    return tuple(WayCounts(one.name, one.sent, one.lost, one.dropped) for one in ways)


def more_of(ways: Iterable[Netem]) -> tuple[WayMore, ...]:
    """Return the other counters now."""
    return tuple(WayMore(one.reordered, one.duplicated) for one in ways)


def _use(start: Snapshot, end: Snapshot) -> tuple[WayUse, ...]:
    found = []
    for first, last, before, after in zip(
        *(snapshot.more.get("netem", ()) for snapshot in (start, end)),
        *(snapshot.observed.get("netem", ()) for snapshot in (start, end)),
        strict=True,
    ):
        frames, gone = last.sent - first.sent, last.lost - first.lost
        dropped = last.dropped - first.dropped
        found.append(
            WayUse(
                name=last.name,
                frames=frames,
                lost=gone,
                dropped=dropped,
                reordered=after.reordered - before.reordered,
                duplicated=after.duplicated - before.duplicated,
                lost_percent=100 * (gone + dropped) / frames if frames else None,
            )
        )
    return tuple(found)


def _lost(result: Any) -> float | None:
    rows: tuple[WayUse, ...] = result.netem
    frames = sum(row.frames for row in rows)
    return 100 * sum(row.lost + row.dropped for row in rows) / frames if frames else None


COLUMNS: Final = (
    Column(
        "netem",
        tuple[WayUse, ...],
        "what became of the frames on the way between the hosts, where one lies between",
        _use,
        table=True,
        measures={
            "way_lost_percent": Measure("lost on the way (%)", "lost%", _lost, digits=2),
        },
        order=16,
    ),
)
