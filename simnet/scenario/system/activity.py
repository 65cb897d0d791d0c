"""What `/proc/stat` shows of a machine, and what a partition has had of its pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simnet.host.machine import Machine

__all__ = ["Activity", "PartitionCounts", "activity_of", "partition_of", "virtual_processors"]


@dataclass(frozen=True)
class PartitionCounts:
    """What a partition has had of the pool, cumulative.

    Attributes:
        consumed_ps: time of physical processors.
        entitled_ps: its entitlement in each window.
        window_ps: dispatch window.
        dispatches, cedes: how often its virtual processors got a physical one, and gave it up.
        purr_ps: processor utilisation resource register of each CPU.
    """

    consumed_ps: int
    entitled_ps: int
    window_ps: int
    dispatches: int
    cedes: int
    purr_ps: tuple[int, ...]


@dataclass(frozen=True)
class Activity:
    """What vmstat reads, cumulative; ticks and times of all CPUs.

    `runnable` and `blocked` are numbers of processes now. Of the idle time `idle_ps`, somebody
    waited for a disk during `iowait_ps`.
    """

    time_ps: int
    interrupts: int
    context_switches: int
    runnable: int
    blocked: int
    idle_ps: int
    iowait_ps: int
    user_ticks: int
    system_ticks: int
    idle_ticks: int


def activity_of(
    machine: Machine, interrupts: int, *, blocked: int = 0, iowait_ps: int = 0
) -> Activity:
    """What vmstat reads now.

    Args:
        machine: the machine.
        interrupts: that its devices have raised until now.
        blocked: processes that wait for a disk.
        iowait_ps: idle time of its CPUs in which somebody waited for a disk.
    """
    times = [cpu.times() for cpu in machine.cpus]

    def ticks(*modes: str) -> int:
        return sum(time[f"{mode}_ticks"] for time in times for mode in modes)

    return Activity(
        time_ps=machine.sim.now,
        interrupts=interrupts + machine.scheduler.ipis,
        context_switches=machine.scheduler.switches,
        runnable=sum((cpu.current is not None) + len(cpu.runqueue) for cpu in machine.cpus),
        blocked=blocked,
        idle_ps=sum(time["idle_ps"] for time in times),
        iowait_ps=iowait_ps,
        user_ticks=ticks("user"),
        system_ticks=ticks("system", "softirq", "irq"),
        idle_ticks=ticks("idle"),
    )


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
