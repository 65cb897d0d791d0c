"""What a partition has had of the pool of processors: its counters, and what a result says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pydantic import Field

from simnet.rows import Percent, Rate, Row
from simnet.scenario.core.subject import Column
from simnet.time_units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simnet.host.machine import Machine
    from simnet.scenario.system.system import Snapshot


@dataclass(frozen=True)
class PartitionCounts:
    """What a partition has had of the pool, cumulative."""

    consumed_ps: int  # time of physical processors
    entitled_ps: int  # its entitlement in each window
    window_ps: int  # dispatch window
    # how often its virtual processors got a physical one, and gave it up
    dispatches: int
    cedes: int
    purr_ps: tuple[int, ...]  # processor utilisation resource register of each CPU


class PartitionUse(Row):
    """What a partition has had of the pool of physical processors.

    `processors` is the mean number of physical processors (physc of AIX's lparstat).
    """

    processors: Rate
    entitled_percent: Rate = Field(description="of the entitlement")
    dispatches_per_s: Rate
    cedes_per_s: Rate
    purr: tuple[Percent, ...] = Field(description="of each CPU, in percent of the time")


def virtual_processors(machine: Machine) -> list[Any]:
    """The virtual processors whose threads a machine's CPUs are; none if it is no partition."""
    found: Iterable[Any] = (cpu.virtual for cpu in machine.cpus)
    return [processor for processor in dict.fromkeys(found) if processor is not None]


def partition_of(machine: Machine) -> PartitionCounts | None:
    """What a machine has had of the pool until now; None if it is no partition."""
    processors = virtual_processors(machine)
    if not processors:
        return None
    for processor in processors:
        processor.count()
    partition = processors[0].partition
    return PartitionCounts(
        consumed_ps=partition.consumed_ps,
        entitled_ps=partition.entitled_ps,
        window_ps=processors[0].pool.window_ps,
        dispatches=sum(processor.dispatches for processor in processors),
        cedes=sum(processor.cedes for processor in processors),
        purr_ps=tuple(cpu.purr_ps for cpu in machine.cpus),
    )


def _use(start: Snapshot, end: Snapshot) -> PartitionUse | None:
    """Shares and rates between two snapshots; None for a host that is no partition."""
    first, last = start.more.get("partition"), end.more.get("partition")
    if first is None or last is None:
        return None
    elapsed_ps = end.time_ps - start.time_ps

    def per_s(name: str) -> float:
        amount: Any = getattr(last, name) - getattr(first, name)
        return float(amount) * PS_PER_S / elapsed_ps

    consumed = (last.consumed_ps - first.consumed_ps) / elapsed_ps
    return PartitionUse(
        processors=consumed,
        entitled_percent=100 * consumed * last.window_ps / last.entitled_ps,
        dispatches_per_s=per_s("dispatches"),
        cedes_per_s=per_s("cedes"),
        purr=tuple(
            100 * (after - before) / elapsed_ps
            for before, after in zip(first.purr_ps, last.purr_ps, strict=True)
        ),
    )


COLUMNS: Final = (
    Column(
        "partition",
        PartitionUse | None,
        "of a hypervisor's partition",
        _use,
        default=None,
        order=10,
    ),
)
