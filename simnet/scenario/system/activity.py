"""What `/proc/stat` shows of a machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simnet.host.machine import Machine


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
        iowait_ps: idle time of its CPUs in which a process waited for a disk.
    """
    times = [cpu.times() for cpu in machine.online]

    def ticks(*modes: str) -> int:
        return sum(time[f"{mode}_ticks"] for time in times for mode in modes)

    return Activity(
        time_ps=machine.sim.now,
        interrupts=interrupts + machine.scheduler.ipis,
        context_switches=machine.scheduler.switches,
        runnable=sum((cpu.current is not None) + len(cpu.runqueue) for cpu in machine.online),
        blocked=blocked,
        idle_ps=sum(time["idle_ps"] for time in times),
        iowait_ps=iowait_ps,
        user_ticks=ticks("user"),
        system_ticks=ticks("system", "softirq", "irq"),
        idle_ticks=ticks("idle"),
    )
