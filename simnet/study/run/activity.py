"""What vmstat and iperf show second by second.

vmstat's columns are differences of `/proc/stat`: interrupts of devices and between processors,
context switches (switches to the idle task, too), and the ticks of all logical CPUs. On POWER the
timer's own interrupts are not in that sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from pydantic import Field

from simnet.rows import Percent, Rate, Row
from simnet.time_units import PS_PER_S

if TYPE_CHECKING:
    from simnet.scenario.system.activity import Activity
    from simnet.scenario.system.system import System


class VmstatRow(Row):
    """One second, or less at the end: `r`, `b`, `in`, `cs`, `us`, `sy`, `id`, `wa` of vmstat."""

    runnable: int = Field(ge=0, description="processes that run or could run, at the end")
    blocked: int = Field(default=0, ge=0, description="processes that wait for a disk, at the end")
    interrupts_per_s: Rate
    context_switches_per_s: Rate
    user: Percent
    system: Percent = Field(description="with interrupts and softirqs")
    idle: Percent
    iowait: Percent


class SecondSampler:
    """Runs a system and looks at it each second."""

    def __init__(self) -> None:
        self._samples: list[Activity] = []

    def run(self, system: System, duration_ps: int) -> None:
        """Simulate `duration_ps`."""
        self._samples = [system.activity()]
        while duration_ps > 0:
            system.run(min(duration_ps, PS_PER_S))
            duration_ps -= PS_PER_S
            self._samples.append(system.activity())

    def rows(self) -> tuple[VmstatRow, ...]:
        """What was seen; nothing if it has run nothing."""
        return vmstat_rows(self._samples)


def vmstat_rows(samples: Sequence[Activity]) -> tuple[VmstatRow, ...]:
    """Rows between samples."""
    return tuple(_row(first, last) for first, last in pairwise(samples))


def _row(first: Activity, last: Activity) -> VmstatRow:
    seconds = (last.time_ps - first.time_ps) / PS_PER_S
    user, system, idle = (
        getattr(last, name) - getattr(first, name)
        for name in ("user_ticks", "system_ticks", "idle_ticks")
    )
    ticks = user + system + idle
    shares = [100 * value / ticks if ticks else 0.0 for value in (user, system)]
    idle, iowait = idle_shares(
        100 * idle / ticks if ticks else 100.0,
        idle_ps=last.idle_ps - first.idle_ps,
        iowait_ps=last.iowait_ps - first.iowait_ps,
    )
    return VmstatRow(
        runnable=last.runnable,
        blocked=last.blocked,
        interrupts_per_s=(last.interrupts - first.interrupts) / seconds,
        context_switches_per_s=(last.context_switches - first.context_switches) / seconds,
        user=shares[0],
        system=shares[1],
        idle=idle,
        iowait=iowait,
    )


def idle_shares(percent: float, *, idle_ps: int, iowait_ps: int) -> tuple[float, float]:
    """Split a share of ticks that found CPUs idle into `id` and `wa`, as the idle time is split.

    Args:
        percent: of all ticks.
        idle_ps: idle time.
        iowait_ps: that part of it in which a process waited for a disk.
    """
    waited = iowait_ps / idle_ps if iowait_ps else 0.0
    return percent * (1.0 - waited), percent * waited
