"""What two snapshots say of disks: the columns of `iostat -x`, and who served them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from simnet.storage.block.diskstats import IostatRow, iostat

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simnet.scenario.system.system import Snapshot

__all__ = ["PeerCpuUse", "disks_of", "peer_cpus_of", "row_of"]

Percent = Annotated[float, Field(ge=0.0, le=100.0)]


class PeerCpuUse(BaseModel):
    """Exact shares of the measured time of one logical CPU of a peer; they add up to 100."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str
    id: int
    user: Percent
    system: Percent
    iowait: Percent
    steal: Percent
    idle: Percent


def disks_of(start: Snapshot, end: Snapshot) -> tuple[dict[str, str | float], ...]:
    """One entry a disk: `name` is one of its kind, `host` and `device` are its parts."""
    found = []
    for first, last in zip(start.disks, end.disks, strict=True):
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


def peer_cpus_of(start: Snapshot, end: Snapshot) -> tuple[PeerCpuUse, ...]:
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
        for first, last in zip(start.peer_cpus, end.peer_cpus, strict=True)
    )
