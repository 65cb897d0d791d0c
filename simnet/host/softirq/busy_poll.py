"""Busy polling: a process polls a device queue itself in place of waiting for its interrupt.

Source: net/core/dev.c (`sk_busy_loop`, `busy_poll_stop`) of Linux 4.10 and (`__napi_busy_loop`,
`busy_poll_stop`) of 5.11 to 6.18. The process
takes the NAPI instance when no softirq has it, and polls with bottom halves disabled, again and
again, until it finds what it waits for, its time is over, or another process should run. As long as
it owns the instance its interrupt stays off. When it stops, it polls once more, and that poll
enables the interrupt; a process that *prefers* busy polling (`SO_PREFER_BUSY_POLL`, `EPIOCSPARAMS`)
starts the instance's timer instead, if `napi_defer_hard_irqs` and `gro_flush_timeout` are set, so
that nothing interrupts until it polls again or the timer expires.
"""

from __future__ import annotations

import cython

from simnet.host.accounting import PROCESS_LEVEL, SYSTEM
from simnet.host.costs import Costs
from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler, Task
from simnet.host.softirq.napi_instance import NapiInstance
from simnet.host.softirq.softirq import ProcessPoll, SoftirqNetRx


@cython.cclass
class BusyPoller(Task):
    """A process that may poll busily, if `may_poll` was called.

    Its `step` begins with ``if self.loop.resumed(cpu): return`` then. It calls `loop.start` from
    `step`, asks for no other work until `busy_loop_done` is called, and asks for work, or sleeps,
    there.
    """

    loop: BusyLoop = None

    def __init__(
        self,
        scheduler: Scheduler,
        path: str,
        cpu: Cpu,
        nice: int = 0,
        allowed: frozenset[int] | None = None,
    ) -> None:
        super().__init__(scheduler, path, cpu, nice, allowed)

    def may_poll(self) -> None:
        """Prepare the loop."""
        self.loop = BusyLoop(self)

    def busy_loop_end(self) -> cython.bint:
        """Whether it has found what it waits for, or its time is over (`loop_end`)."""
        raise NotImplementedError(self.path)

    def busy_loop_done(self, cpu: Cpu) -> cython.int:
        """The loop is over; nothing runs for the process."""
        raise NotImplementedError(self.path)


@cython.final
@cython.cclass
class BusyLoop(ProcessPoll):
    """The loop of one process."""

    task: BusyPoller = None  # the process
    costs: Costs = None
    instance: NapiInstance = None
    budget: cython.int = 0
    prefer: cython.bint = False
    owns: cython.bint = False
    stopping: cython.bint = False
    skips: cython.bint = False
    yields: cython.bint = False
    active: cython.bint = False  # the process is in it
    loops: cython.longlong = 0  # how often it was entered
    turned_ps: cython.longlong = 0
    had: cython.longlong = 0

    def __init__(self, task: BusyPoller) -> None:
        super().__init__(task.sim, f"{task.path}.busy_loop")
        self.task = task
        self.costs = task.scheduler.costs

    def start(
        self, cpu: Cpu, instance: NapiInstance, budget: cython.int, prefer: cython.bint
    ) -> cython.int:
        """`napi_busy_loop`, called by the process in its `step`; `busy_loop_done` follows."""
        self.instance = instance
        self.budget = budget
        self.prefer = prefer
        self.owns = False
        self.active = True
        self.loops += 1
        return self._turn(cpu)

    def resumed(self, cpu: Cpu) -> cython.bint:
        """Whether the process, which has got a CPU again, goes on in the loop."""
        if not self.active:
            return False
        if self.task.busy_loop_end():
            self._leave(cpu)
        else:
            self._turn(cpu)
        return True

    def step(self, cpu: Cpu) -> None:
        """Softirqs that were pending between two polls are through."""
        if self.stopping:
            self.stopping = False
            self._stopped(cpu)
        elif not self.owns:
            self._again(cpu)
        else:
            self._turn(cpu)

    def _turn(self, cpu: Cpu) -> cython.int:
        """Once round: poll, unless somebody else does."""
        self.turned_ps = self.sim.now
        self.had = self.instance.poll_packets
        softirqs: SoftirqNetRx = cpu.softirqs  # type: ignore[assignment]  # Cython checks it
        instance: NapiInstance = self.instance
        if not self.owns:
            if instance.napi.scheduled:
                if self.prefer:
                    instance.prefer_busy_poll = True
                self.costs.ledger.softirq += self.costs.poll_ps
                cpu.run(PROCESS_LEVEL, self, self.costs.poll_ps, SYSTEM)
                return 0
            instance.napi.scheduled = True
            instance.in_busy_poll = True
            self.owns = True
        return softirqs.poll_now(cpu, instance.napi, self, self.budget, 0)

    def polled(self, cpu: Cpu) -> cython.int:
        """A poll is over (`local_bh_enable`)."""
        if self.stopping:
            return self._last_polled(cpu)
        return self._again(cpu)

    def _again(self, cpu: Cpu) -> cython.int:
        """Go on, or stop."""
        if self.instance.poll_packets == self.had:
            cpu.waited_ps += self.sim.now - self.turned_ps
        if self.task.busy_loop_end():
            self.yields = False
        elif self.task.should_yield(cpu):
            self.yields = True
        elif cpu.softirqs.pending:
            # what is pending comes first
            cpu.run(PROCESS_LEVEL, self, 0, SYSTEM)
            return cpu.kick()
        else:
            return self._turn(cpu)
        if not self.owns:
            return self._stopped(cpu)
        return self._stop(cpu)

    def _stop(self, cpu: Cpu) -> cython.int:
        """`busy_poll_stop`: poll once more, which enables the interrupt, or start the timer."""
        softirqs: SoftirqNetRx = cpu.softirqs  # type: ignore[assignment]  # Cython checks it
        instance: NapiInstance = self.instance
        instance.missed = False
        instance.in_busy_poll = False
        self.skips = False
        if self.prefer:
            instance.defer_count = instance.defer_hard_irqs
            if instance.defer_count > 0 and instance.gro_flush_timeout_ps > 0:
                instance.start_timer(cpu, instance.gro_flush_timeout_ps)
                self.skips = True
        self.stopping = True
        return softirqs.poll_now(cpu, instance.napi, self, self.budget, 0)

    def _last_polled(self, cpu: Cpu) -> cython.int:
        """The last poll has completed, unless it took its whole budget (`__busy_poll_stop`)."""
        softirqs: SoftirqNetRx = cpu.softirqs  # type: ignore[assignment]  # Cython checks it
        instance: NapiInstance = self.instance
        self.owns = False
        if instance.ran_out:
            instance.napi.scheduled = False
            if not self.skips:
                instance.hand_over(cpu)
        if softirqs.pending:
            cpu.run(PROCESS_LEVEL, self, 0, SYSTEM)
            return cpu.kick()
        self.stopping = False
        return self._stopped(cpu)

    def _stopped(self, cpu: Cpu) -> cython.int:
        """Give way to another process and try again, or leave."""
        if self.yields and self.task.yield_if_needed(cpu):
            return 0
        if self.yields and not self.task.busy_loop_end():
            return self._turn(cpu)
        return self._leave(cpu)

    def _leave(self, cpu: Cpu) -> cython.int:
        self.active = False
        self.yields = False
        return self.task.busy_loop_done(cpu)
