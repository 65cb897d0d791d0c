"""How long CPUs were idle while processes that ran on them waited for disks: `%iowait`.

Source: `nr_iowait` of a run queue and `account_system_time` in kernel/sched.c of Linux 2.6.16. An
idle CPU counts as waiting for I/O while a process sleeps in `io_schedule` that ran there last,
so the time is idle time, and which CPU it counts for follows from where the process was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.host.cpu import Cpu


class IowaitClock:
    """Keeps `nr_iowait` of each CPU, and the idle time while it was above 0.

    Args:
        cpus: of the machine, by number.
    """

    def __init__(self, cpus: Sequence[Cpu]) -> None:
        self._cpus = tuple(cpus)
        self.waiting = [0] * len(self._cpus)
        self._idle_ps = [0] * len(self._cpus)
        self._found_ps = [0] * len(self._cpus)

    def sleeps(self, cpu: Cpu) -> None:
        """A process begins to wait for I/O on a CPU."""
        number = cpu.cpu_id
        if self.waiting[number] == 0:
            self._idle_ps[number] = cpu.times()["idle_ps"]
        self.waiting[number] += 1

    def wakes(self, cpu: Cpu) -> None:
        """One that slept on this CPU has what it waited for."""
        number = cpu.cpu_id
        self.waiting[number] -= 1
        if self.waiting[number] == 0:
            self._found_ps[number] += cpu.times()["idle_ps"] - self._idle_ps[number]

    def iowait_ps(self, cpu: Cpu) -> int:
        """Idle time of a CPU until now in which a process waited, in ps."""
        number = cpu.cpu_id
        found = self._found_ps[number]
        if self.waiting[number]:
            found += cpu.times()["idle_ps"] - self._idle_ps[number]
        return found
