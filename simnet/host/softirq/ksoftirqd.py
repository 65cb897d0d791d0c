"""ksoftirqd: the kernel thread, one a CPU, that takes over when softirqs keep coming.

Source: kernel/softirq.c of Linux 2.6.18: nice 19; while softirqs are pending it calls
`do_softirq` and then lets others run (`cond_resched`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from simnet.host.accounting import PROCESS_LEVEL, SYSTEM
from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler, Task

if TYPE_CHECKING:
    from simnet.host.softirq.softirq import SoftirqNetRx

# a look at what is pending
_LOOK_PS = 1000


class Ksoftirqd(Task):
    """The thread of one CPU."""

    def __init__(self, scheduler: Scheduler, cpu: Cpu) -> None:
        super().__init__(scheduler, f"{cpu.path}.ksoftirqd", cpu, 19, frozenset({cpu.cpu_id}))
        self.runs_softirqs = True
        cast("SoftirqNetRx", cpu.softirqs).ksoftirqd = self

    def step(self, cpu: Cpu) -> None:
        """Have pending softirqs executed, or sleep."""
        if not cpu.softirqs.pending:
            self.sleep()
            return
        cpu.kick()
        if not self.yield_if_needed(cpu):
            self.scheduler.costs.ledger.softirq += _LOOK_PS
            cpu.run(PROCESS_LEVEL, self, _LOOK_PS, SYSTEM)
