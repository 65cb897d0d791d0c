"""A NAPI instance (`struct napi_struct`): who may poll a queue, and when its interrupts come back.

Source: net/core/dev.c (`napi_schedule_prep`, `napi_complete_done`, `napi_watchdog`, `__napi_poll`,
`napi_suspend_irqs`, `napi_resume_irqs`) of Linux 5.4 to 6.18. A poll that has taken less than its
budget ends with `napi_complete_done`, which lets the driver enable the interrupt again. It does not
if

- a process polls busily: the interrupt stays off until that process stops;
- `napi_defer_hard_irqs` (5.8) is above 0, with a `gro_flush_timeout`: so many polls in a row that
  find nothing are made by a timer first, each so long after the one before; a poll that finds
  packets begins to count anew;
- the interrupt came meanwhile (`NAPI_STATE_MISSED`): another poll follows.

With `irq-suspend-timeout` (6.13) a process that has found packets by busy polling keeps the
interrupt off for as long as it goes on to find some; the timer is the safeguard. It resumes
interrupts before it sleeps.

The timer is not cancelled when something else polls. It finds the instance scheduled then, and does
nothing, or polls once more.
"""

from __future__ import annotations

import cython

from simnet.host.costs import Costs
from simnet.host.cpu import Context, Cpu
from simnet.host.scheduler import Task
from simnet.host.softirq.softirq import Napi, SoftirqNetRx
from simnet.kernel.compiled import Public
from simnet.kernel.priority import NIC


@cython.final
@cython.cclass
class NapiInstance(Context):
    """What the kernel keeps of one device queue that is polled."""

    napi: Napi = None  # the poll function of its driver
    costs: Costs = None  # of the machine's CPUs
    defer_hard_irqs: Public[cython.int] = 0  # `napi_defer_hard_irqs`
    gro_flush_timeout_ps: Public[cython.longlong] = 0  # `gro_flush_timeout`
    irq_suspend_timeout_ps: Public[cython.longlong] = 0  # `irq-suspend-timeout`
    defer_count: Public[cython.int] = 0
    # that polls it in place of the softirq (`napi->thread`); None for the softirq
    thread: Public[Task] = None
    thread_polls: cython.bint = False  # it is the thread's turn (`NAPI_STATE_SCHED_THREADED`)
    missed: Public[cython.bint] = False  # it was to be scheduled while it was (`NAPI_STATE_MISSED`)
    in_busy_poll: Public[cython.bint] = False  # a process owns it (`NAPI_STATE_IN_BUSY_POLL`)
    prefer_busy_poll: Public[cython.bint] = False  # a process that prefers to poll waits for it
    ran_out: cython.bint = False  # the last poll took its whole budget
    # receive offload flushes only what it holds since an earlier jiffy
    keeps_young: cython.bint = False
    timeout_ps: cython.longlong = 0
    deferred: cython.bint = False
    timer: cython.longlong = 0
    timer_cpu: Cpu = None
    interrupts: Public[cython.longlong] = 0  # hard interrupts of its device
    # polls, packets that they took, polls that took none, and as many as they were allowed
    polls: cython.longlong = 0
    poll_packets: cython.longlong = 0
    polls_empty: cython.longlong = 0
    polls_full_budget: cython.longlong = 0
    timeouts: cython.longlong = 0  # runs of its timer

    def __init__(self, napi: Napi, costs: Costs) -> None:
        super().__init__(napi.sim, f"{napi.path}.napi")
        self.napi = napi
        self.costs = costs

    def counters(self) -> dict[str, int]:
        """Polls, packets and interrupts."""
        return {
            "interrupts": self.interrupts,
            "polls": self.polls,
            "poll_packets": self.poll_packets,
            "polls_empty": self.polls_empty,
            "polls_full_budget": self.polls_full_budget,
            "timeouts": self.timeouts,
        }

    # -- scheduling ---------------------------------------------------------------------------

    def schedule(self, cpu: Cpu) -> cython.int:
        """`napi_schedule` on a CPU, in a handler or with bottom halves disabled."""
        if self.napi.scheduled:
            self.missed = True
            return 0
        return self.hand_over(cpu)

    def hand_over(self, cpu: Cpu) -> cython.int:
        """`____napi_schedule`: have its thread or this CPU's softirq poll it."""
        softirqs: SoftirqNetRx
        if self.thread is None:
            softirqs = cpu.softirqs  # type: ignore[assignment]  # Cython checks it
            return softirqs.schedule(self.napi)
        self.napi.scheduled = True
        self.thread_polls = True
        self.thread.wake_on(cpu)
        return 0

    def polled(self, packets: cython.int, budget: cython.int) -> cython.int:
        """Count a poll (tracepoint napi:napi_poll)."""
        self.polls += 1
        self.poll_packets += packets
        self.ran_out = packets >= budget
        if packets == 0:
            self.polls_empty += 1
        elif self.ran_out:
            self.polls_full_budget += 1
        return 0

    # -- the end of a poll --------------------------------------------------------------------

    def completing(self, packets: cython.int, holds: cython.bint) -> cython.bint:
        """The first half of `napi_complete_done`: whether the driver would enable its interrupt.

        Args:
            packets: that the poll took.
            holds: receive offload holds some back; it flushes by `keeps_young` then, unless
                `in_busy_poll`.
        """
        self.timeout_ps = 0
        self.deferred = False
        self.keeps_young = False
        if self.in_busy_poll:
            return False
        if packets > 0:
            if holds:
                self.timeout_ps = self.gro_flush_timeout_ps
            self.defer_count = self.defer_hard_irqs
        if self.defer_count > 0:
            self.defer_count -= 1
            self.timeout_ps = self.gro_flush_timeout_ps
            self.deferred = self.timeout_ps > 0
        self.keeps_young = self.timeout_ps > 0
        return not (self.deferred or self.missed)

    def completed(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.bint:
        """The second half: give it up; True if the driver is to enable its interrupt."""
        if self.in_busy_poll:
            return False
        if softirq.process is None and self.thread is None:
            softirq.complete(self.napi)
        self.napi.scheduled = False
        self.thread_polls = False
        self.prefer_busy_poll = False
        if self.missed:
            self.missed = False
            self.hand_over(cpu)
            return False
        if self.timeout_ps > 0:
            self.start_timer(cpu, self.timeout_ps)
        return not self.deferred

    def left_to_process(self, cpu: Cpu, softirq: SoftirqNetRx, packets: cython.int) -> cython.bint:
        """The end of a poll that took its whole budget, by no process; False: it is polled again.

        If a process prefers to poll busily, it is left to it, or to the timer (`__napi_poll`).
        """
        if not self.prefer_busy_poll or softirq.process is not None:
            return False
        self.completing(packets, holds=False)
        if self.completed(cpu, softirq):
            self.schedule(cpu)
        return True

    # -- the timer ----------------------------------------------------------------------------

    def start_timer(self, cpu: Cpu, delay_ps: cython.longlong) -> cython.int:
        """`hrtimer_start`, pinned: the timer interrupts this CPU, whatever was set before."""
        if self.timer != 0:
            self.sim.cancel(self.timer)
        self.timer_cpu = cpu
        self.timer = self.sim.after(delay_ps, self, 0, 0, NIC)
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The timer expires: its interrupt, in whose handler `napi_watchdog` is called."""
        cpu: Cpu = self.timer_cpu
        self.timer = 0
        self.timeouts += 1
        self.costs.ledger.hardirq += self.costs.hardirq_ps
        cpu.raise_irq(self, self.costs.hardirq_ps)

    def step(self, cpu: Cpu) -> None:
        """`napi_watchdog`: schedule a poll, unless somebody polls already."""
        if not self.napi.scheduled:
            self.prefer_busy_poll = False
            self.hand_over(cpu)

    # -- interrupts suspended by a process ----------------------------------------------------

    def suspend_irqs(self, cpu: Cpu) -> cython.int:
        """`napi_suspend_irqs`: put the timer off; a process on this CPU will poll again."""
        if self.irq_suspend_timeout_ps > 0:
            self.start_timer(cpu, self.irq_suspend_timeout_ps)
        return 0

    def resume_irqs(self, cpu: Cpu) -> cython.int:
        """`napi_resume_irqs`: have the softirq poll at once, which enables the interrupt again."""
        if self.irq_suspend_timeout_ps > 0:
            self.schedule(cpu)
            cpu.kick()
        return 0
