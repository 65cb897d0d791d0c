"""The kernel's thread that submits what a process has put into its ring (IORING_SETUP_SQPOLL).

It looks at the ring again and again, submits what it finds, polls the drive if the process asked
for that (`hipri`), and tells the process what is completed. It sleeps after a second without work,
which a job of fio does not let pass: it is never asleep here.

Source: `io_sq_thread`, `__io_sq_thread` in io_uring/sqpoll.c of Linux 6.12.
"""

from typing import Any

import cython

from simnet.host.accounting import PROCESS_LEVEL, SYSTEM
from simnet.host.cpu import Cpu
from simnet.host.ledger import Ledger
from simnet.host.scheduler import Task
from simnet.workload.fio.files import FioFiles, Ring
from simnet.workload.fio.stats import FioCosts

# states: what the piece of work that has just been executed was
_SCHEDULED_IN: cython.int = 0
_TURNED: cython.int = 1


@cython.final
@cython.cclass
class SqThread(Task):
    """`iou-sqp` of one process.

    Args:
        cpu: where it starts.
        ring: that it looks at.
        files: of the process.
        costs: see there.
        pages: of a unit that have to be pinned.
        polls: it polls the drives.
        allowed: CPUs that it may run on.
    """

    ring: Ring = None
    files: FioFiles = None
    ledger: Ledger = None
    ring_ps: cython.longlong = 0
    engine_ps: cython.longlong = 0
    reap_ps: cython.longlong = 0
    pages: cython.longlong = 0
    polls: cython.bint = False
    state: cython.int = 0
    taken: list[Any] = None
    position: cython.Py_ssize_t = 0
    posted: cython.Py_ssize_t = 0

    def __init__(
        self,
        scheduler: Any,
        path: str,
        cpu: Cpu,
        *,
        ring: Ring,
        files: FioFiles,
        costs: FioCosts,
        pages: int,
        polls: bool,
        allowed: frozenset[int] | None = None,
    ) -> None:
        super().__init__(scheduler, path, cpu, 0, allowed)
        self.ring = ring
        self.files = files
        self.ledger = files.ledger
        self.ring_ps = costs.ring_ps
        self.engine_ps = costs.engine_ps
        self.reap_ps = costs.reap_ps
        self.pages = pages
        self.polls = polls
        self.state = _SCHEDULED_IN
        self.taken = []

    def step(self, cpu: Cpu) -> None:
        """Go on after a piece of work."""
        if self.state == _TURNED and not self._end(cpu):
            return
        self._begin(cpu)

    def _begin(self, cpu: Cpu) -> cython.int:
        """A turn of its loop: look, take what is there, and tell what is completed."""
        ring: Ring = self.ring
        own_ps: cython.longlong
        block_ps: cython.longlong = 0
        if self.yield_if_needed(cpu):
            self.state = _SCHEDULED_IN
            return 0
        self.posted = len(ring.arrived)
        own_ps = self.ring_ps + self.posted * self.reap_ps
        if len(self.taken) == 0 and len(ring.submitted) > 0:
            self.taken = ring.submitted[:]
            ring.submitted.clear()
            self.position = 0
            own_ps += len(self.taken) * self.engine_ps
            block_ps = self.files.submit_work_ps(cpu, self.taken, self.pages)
        self.ledger.syscall += own_ps
        if self.polls and ring.in_drive > 0:
            self.ledger.storage += self.files.poll_ps
            block_ps += self.files.poll_ps
        block_ps += self.files.debt_ps
        self.files.debt_ps = 0
        self.state = _TURNED
        return cpu.run(PROCESS_LEVEL, self, own_ps + block_ps, SYSTEM)

    def _end(self, cpu: Cpu) -> cython.bint:
        """The turn is over; whether another one begins, as it did not have to sleep for a tag."""
        ring: Ring = self.ring
        begin: cython.Py_ssize_t = self.position
        idle: cython.bint = self.posted == 0 and len(self.taken) == 0
        ring.done.extend(ring.arrived[: self.posted])
        del ring.arrived[: self.posted]
        self.posted = 0
        if len(self.taken) > 0:
            self.position = self.files.submit(self.taken, begin, cpu, self, self.polls)
            ring.in_drive += self.position - begin
            if self.position == len(self.taken):
                self.taken = []
            elif not self.polls:
                self.sleep()
                return False
        if self.polls and ring.in_drive > 0 and self.files.poll(cpu) > 0:
            idle = False
        if idle:
            cpu.waited_ps += self.ring_ps
        return True
