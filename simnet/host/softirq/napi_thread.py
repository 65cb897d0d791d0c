"""Threaded NAPI: a kernel thread polls a device queue in place of the softirq.

Source: net/core/dev.c of Linux 5.12 to 6.12 (`napi_threaded_poll`, `napi_thread_wait`,
`____napi_schedule`). With `/sys/class/net/*/threaded` each NAPI instance has a thread
(`napi/eth0-8193`), which is woken in place of raising NET_RX. It polls with bottom halves disabled,
up to the instance's weight, until a poll leaves something of that; between two polls it lets
softirqs and other threads have their turns (`local_bh_enable`, `cond_resched`). No other device
shares a budget with it, no ksoftirqd takes over, and its time is a process's in the kernel, on the
CPU that the scheduler gives it.

What the wake-up takes is part of the first poll. Not modelled: threads that poll busily (6.19),
and a thread for each CPU's backlog.
"""

from __future__ import annotations

import cython

from simnet.host.accounting import PROCESS_LEVEL, SYSTEM
from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler, Task
from simnet.host.softirq.napi_instance import NapiInstance
from simnet.host.softirq.softirq import ProcessPoll, SoftirqNetRx


@cython.final
@cython.cclass
class _Poll(ProcessPoll):
    """One poll of a thread."""

    thread: NapiThread = None

    def __init__(self, thread: NapiThread) -> None:
        super().__init__(thread.sim, f"{thread.path}.poll")
        self.thread = thread

    def polled(self, cpu: Cpu) -> cython.int:
        """A poll is over: whether another follows is decided when softirqs are through."""
        instance: NapiInstance = self.thread.instance
        softirqs: SoftirqNetRx = cpu.softirqs  # type: ignore[assignment]  # Cython checks it
        if instance.thread_polls and instance.ran_out:
            # what is left is the thread's, or that of a process that prefers to poll
            instance.left_to_process(cpu, softirqs, instance.napi.weight)
        cpu.run(PROCESS_LEVEL, self.thread, 0, SYSTEM)
        return cpu.kick()


@cython.final
@cython.cclass
class NapiThread(Task):
    """The thread of one instance, which it takes from the softirq.

    Args:
        scheduler: of the machine.
        cpu: where it starts.
        instance: that it polls.
        allowed: CPUs that it may run on (None: all), as `taskset --pid` sets them.
    """

    instance: NapiInstance = None
    poll: _Poll = None
    woken: cython.bint = False

    def __init__(
        self,
        scheduler: Scheduler,
        cpu: Cpu,
        instance: NapiInstance,
        allowed: frozenset[int] | None,
    ) -> None:
        super().__init__(scheduler, f"{instance.path}.thread", cpu, 0, allowed)
        self.instance = instance
        self.poll = _Poll(self)
        instance.thread = self

    def step(self, cpu: Cpu) -> None:
        """Poll, give way to another, or wait to be woken."""
        softirqs: SoftirqNetRx = cpu.softirqs  # type: ignore[assignment]  # Cython checks it
        work: cython.longlong = 0
        if not self.instance.thread_polls:
            self.woken = False
            self.sleep()
            return
        if self.yield_if_needed(cpu):
            return
        if not self.woken:
            self.woken = True
            work = self.scheduler.costs.wakeup_ps
            self.scheduler.costs.ledger.wakeup += work
        softirqs.poll_now(cpu, self.instance.napi, self.poll, self.instance.napi.weight, work)
