"""Counters of disks and of who serves them, and what two snapshots say: `iostat -x`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from simnet.rows import Percent, Row
from simnet.scenario.core.subject import Column
from simnet.storage.block.diskstats import IostatRow, iostat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simnet.scenario.system.system import Snapshot
    from simnet.storage.block.diskstats import Snapshot as DiskSnapshot


@dataclass(frozen=True)
class DiskCounts:
    """Counters of one disk's queue, as `/proc/diskstats` has them, exactly."""

    host: str  # whose disk: "client", or "peer0" and so on
    device: str  # its name there
    counts: DiskSnapshot  # what they are


@dataclass(frozen=True)
class PeerCpu:
    """Cumulative time of one logical CPU of a peer."""

    host: str
    id: int
    user_ps: int
    system_ps: int
    iowait_ps: int
    steal_ps: int
    idle_ps: int


class PeerCpuUse(Row):
    """Exact shares of the measured time of one logical CPU of a peer; they add up to 100."""

    host: str
    id: int
    user: Percent
    system: Percent
    iowait: Percent
    steal: Percent
    idle: Percent


def _pairs(name: str, start: Snapshot, end: Snapshot) -> Iterator[tuple[Any, Any]]:
    return zip(start.more.get(name, ()), end.more.get(name, ()), strict=True)


def _disks(start: Snapshot, end: Snapshot) -> tuple[dict[str, str | float], ...]:
    """One entry a disk: `name` is one of its kind, `host` and `device` are its parts."""
    found = []
    for first, last in _pairs("disks", start, end):
        row = asdict(iostat(last.device, first.counts, last.counts))
        name = last.device if last.host == "client" else f"{last.host}:{last.device}"
        found.append({"name": name, "host": last.host, **row})
    return tuple(found)


def row_of(disk: Mapping[str, str | float]) -> IostatRow:
    """The row of `iostat -x` that an entry of a result is."""
    numbers = {
        name: float(value) for name, value in disk.items() if name not in {"name", "host", "device"}
    }
    return IostatRow(device=str(disk["device"]), **numbers)


def _peer_cpus(start: Snapshot, end: Snapshot) -> tuple[PeerCpuUse, ...]:
    """Shares of the time between two snapshots, of each CPU of the server of the disks."""
    elapsed_ps = end.time_ps - start.time_ps
    return tuple(
        PeerCpuUse(
            host=last.host,
            id=last.id,
            **{
                name: 100
                * (getattr(last, f"{name}_ps") - getattr(first, f"{name}_ps"))
                / elapsed_ps
                for name in ("user", "system", "iowait", "steal", "idle")
            },
        )
        for first, last in _pairs("peer_cpus", start, end)
    )


COLUMNS: Final = (
    Column(
        "disks",
        tuple[dict[str, str | float], ...],
        "one entry a disk: its name and the columns of iostat -x",
        _disks,
        table=True,
        order=50,
    ),
    Column(
        "peer_cpus",
        tuple[PeerCpuUse, ...],
        "CPUs of the server of the disks, exact shares",
        _peer_cpus,
        order=60,
    ),
)
