"""What waking a process that sleeps for a socket costs: `try_to_wake_up`."""

from __future__ import annotations

import cython

from simnet.host.costs import Costs
from simnet.host.cpu import Cpu
from simnet.host.memory import Memory
from simnet.host.scheduler import Task


@cython.final
@cython.cclass
class Wakeups:
    """Those by one socket or epoll instance.

    Args:
        costs, memory: of the host.
        runqueue_lines: cache lines that waking a process on another CPU writes.
    """

    costs: Costs = None
    memory: Memory = None
    runqueue_lines: cython.int = 0

    def __init__(self, costs: Costs, memory: Memory, runqueue_lines: int) -> None:
        self.costs = costs
        self.memory = memory
        self.runqueue_lines = runqueue_lines

    @cython.cfunc
    def woken_ps(self, cpu: Cpu, task: Task) -> cython.longlong:
        """`cpu` has put `task` on the run queue of that one's CPU: book the work, and return it."""
        work: cython.longlong = self.costs.wakeup_ps
        if task.cpu is not cpu:
            work += self.memory.dirty_lines_ps(cpu, task.cpu, self.runqueue_lines)
        self.costs.ledger.wakeup += work
        return work
