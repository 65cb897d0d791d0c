"""A CPU of a host whose threads are virtual CPUs and vhost workers, pinned to it.

The threads share it fairly: the one that has had least of it runs next, for a slice at least. Which
thread may preempt another when it wakes is the scheduler's of the host's kernel:

- Up to Linux 6.5, CFS: a thread that slept has half of `sched_latency` as credit, and preempts one
  that has had more by `sched_wakeup_granularity`.
- Since 6.6, EEVDF: whoever runs goes on until its slice ends (RUN_TO_PARITY).

Source: kernel/sched/fair.c (`place_entity`, `wakeup_preempt_entity`, `check_preempt_wakeup_fair`)
of Linux 5.4 and 6.6; the times are those of eight CPUs or more. All threads have the same weight,
and none moves to another CPU.
"""

# mypy: no-strict-optional
from __future__ import annotations

from typing import Any

import cython

from simnet.host.cpu import VirtualProcessor
from simnet.host.fair.rules import FairRules
from simnet.host.idle import IdleStates
from simnet.kernel.component import Component
from simnet.kernel.priority import LAST
from simnet.kernel.simulator import Simulator

# states of a thread
BLOCKED: cython.int = 0
READY: cython.int = 1
ARRIVING: cython.int = 2
RUNNING: cython.int = 3

# events: a thread has the CPU; a slice ends
_ARRIVED: cython.int = 0
_SLICE: cython.int = 1


@cython.cclass
class HostThread(VirtualProcessor):
    """A thread of the host.

    Args:
        host: the CPU that it is pinned to.
        path: component path.
    """

    host: HostCpu = None
    state: cython.int = 0
    polls: cython.bint = False  # it only waits, and leaves the CPU to any other that wakes
    virtual_ps: cython.longlong = 0
    used_ps: cython.longlong = 0
    preemptions: cython.longlong = 0  # how often it lost the CPU before it was done

    def __init__(self, host: HostCpu, path: str) -> None:
        super().__init__(host.sim, path)
        self.host = host
        self.state = BLOCKED
        host.threads.append(self)

    def resumed(self) -> cython.int:
        """It has the CPU: go on."""
        raise NotImplementedError(self.path)

    def preempted(self) -> cython.int:
        """It loses the CPU."""
        raise NotImplementedError(self.path)

    def stop_polling(self) -> cython.int:
        """Another thread is there: block."""
        raise NotImplementedError(self.path)

    def busy_ps(self) -> cython.longlong:
        """Time that it has had of the CPU until now."""
        self.host._use()  # noqa: SLF001 - C method of this module
        return self.used_ps


@cython.final
@cython.cclass
class HostCpu(Component):
    """A CPU that threads share.

    Args:
        sim: the simulation.
        path: component path.
        node: NUMA node.
        rules: of its kernel's scheduler.
        switch_ps: from the decision to run a thread until it runs.
        idle_states: that it enters without a thread; None if it polls.
    """

    threads: list[Any] = None  # pinned to it
    node: cython.int = 0
    slice_ps: cython.longlong = 0
    credit_ps: cython.longlong = 0
    granularity_ps: cython.longlong = 0
    switch_ps: cython.longlong = 0
    idle_states: IdleStates = None
    running: HostThread = None
    ready: list[Any] = None
    since_ps: cython.longlong = 0
    slice_end_ps: cython.longlong = 0
    least_ps: cython.longlong = 0
    timer: cython.longlong = 0
    slice_timer: cython.longlong = 0

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        node: int,
        rules: FairRules,
        switch_ps: int,
        idle_states: IdleStates | None,
    ) -> None:
        super().__init__(sim, path)
        self.threads = []
        self.node = node
        self.slice_ps = rules.slice_ps
        self.credit_ps = rules.credit_ps
        self.granularity_ps = rules.granularity_ps
        self.switch_ps = switch_ps
        self.idle_states = idle_states
        self.ready = []

    def wake(self, thread: HostThread) -> cython.int:
        """A thread that was blocked has something to do."""
        delay_ps: cython.longlong = self.switch_ps
        self._use()
        thread.virtual_ps = max(thread.virtual_ps, self.least_ps - self.credit_ps)
        if self.running is None:
            if self.idle_states is not None:
                delay_ps += self.idle_states.left_ps(self.sim.now)
            return self._start(thread, delay_ps)
        thread.state = READY
        self.ready.append(thread)
        if self.running.polls:
            return self.running.stop_polling()
        if self.running.virtual_ps - thread.virtual_ps > self.granularity_ps:
            return self._switch()
        return self._arm()

    def block(self, thread: HostThread) -> cython.int:
        """The thread that runs has nothing to do."""
        self._use()
        thread.state = BLOCKED
        self.running = None
        return self._next()

    def _use(self) -> cython.int:
        """Count what the running thread has had up to now."""
        thread: HostThread = self.running
        now: cython.longlong = self.sim.now
        if thread is not None and thread.state == RUNNING:
            thread.used_ps += now - self.since_ps
            thread.virtual_ps += now - self.since_ps
            self.least_ps = max(self.least_ps, thread.virtual_ps)
        self.since_ps = now
        return 0

    def _start(self, thread: HostThread, delay_ps: cython.longlong) -> cython.int:
        """Give the CPU to a thread, which runs after a while."""
        self.running = thread
        thread.state = ARRIVING
        self.timer = self.sim.after(delay_ps, self, _ARRIVED, 0, LAST)
        return 0

    def _next(self) -> cython.int:
        """Give the CPU to the thread that has had least, if any waits."""
        best: HostThread = None
        thread: HostThread
        for thread in self.ready:
            if best is None or thread.virtual_ps < best.virtual_ps:
                best = thread
        if best is None:
            if self.idle_states is not None:
                self.idle_states.entered(self.sim.now)
            return 0
        self.ready.remove(best)
        return self._start(best, self.switch_ps)

    def _switch(self) -> cython.int:
        """Take the CPU from the thread that runs."""
        thread: HostThread = self.running
        if thread.state == ARRIVING:
            self.sim.cancel(self.timer)
            self.timer = 0
        else:
            thread.preempted()
        thread.preemptions += 1
        thread.state = READY
        self.ready.append(thread)
        return self._next()

    def _arm(self) -> cython.int:
        """Look at the end of the slice who runs next, if another waits."""
        over_ps: cython.longlong = self.sim.now - self.slice_end_ps
        if self.slice_timer == 0 and self.ready and self.running.state == RUNNING:
            if over_ps >= 0:
                # slices that ended while nothing else was there
                self.slice_end_ps += (over_ps // self.slice_ps + 1) * self.slice_ps
            self.slice_timer = self.sim.at(self.slice_end_ps, self, _SLICE, 0, LAST)
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The chosen thread runs, or its slice has ended."""
        thread: HostThread
        now: cython.longlong = self.sim.now
        if kind == _SLICE:
            self.slice_timer = 0
            if self.running is None or self.running.state != RUNNING or not self.ready:
                return
            self._use()
            if now >= self.slice_end_ps:
                for thread in self.ready:
                    if thread.virtual_ps <= self.running.virtual_ps:
                        self._switch()
                        return
            self._arm()
            return
        self.timer = 0
        self.since_ps = now
        self.slice_end_ps = now + self.slice_ps
        self.running.state = RUNNING
        self._arm()
        self.running.resumed()
