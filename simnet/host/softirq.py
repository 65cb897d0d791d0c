"""NET_RX softirq and the device poll list of one CPU (Linux 2.6.16 "old NAPI").

Source: net/core/dev.c `net_rx_action` and kernel/softirq.c `__do_softirq` of 2.6.18, which
bracket 2.6.16 together with 2.6.12. A device is on at most one poll list, and stays with the
CPU that scheduled it until its poll has nothing left to do. One round handles at most
`netdev_budget` packets or until `jiffies` has moved on by more than `net_rx_time_limit`;
after `MAX_SOFTIRQ_RESTART` rounds the rest is left to ksoftirqd.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.host.cpu import Context, Cpu, Softirqs
from simnet.kernel.simulator import Simulator

__all__ = ["POLL_CONTINUES", "POLL_DONE", "POLL_MORE", "Napi", "SoftirqNetRx"]

POLL_CONTINUES = 0
POLL_DONE = 1
POLL_MORE = 2
_CONTINUES = cython.declare(cython.int, 0)
_DONE = cython.declare(cython.int, 1)
_MODE_SOFTIRQ = cython.declare(cython.int, 3)
_LEVEL_SOFT = cython.declare(cython.int, 1)


@cython.cclass
class Napi(Context):
    """A device with a poll function.

    A poll is a sequence of pieces of work on the CPU: `poll_begin` and `poll_step` either ask
    the CPU for more work and return POLL_CONTINUES, or return POLL_DONE (nothing left, the
    device has left the list through `SoftirqNetRx.complete`) or POLL_MORE.
    """

    next_polled: Napi
    scheduled: cython.bint
    quota: cython.int
    weight: cython.int

    def __init__(self, sim: Simulator, path: str, weight: int) -> None:
        super().__init__(sim, path)
        self.next_polled = None
        self.scheduled = False
        self.quota = weight
        self.weight = weight

    @cython.ccall
    @cython.exceptval(-1)
    def poll_begin(
        self, cpu: Cpu, softirq: SoftirqNetRx, budget: cython.int, work_ps: cython.longlong
    ) -> cython.int:
        """Start polling at most min(quota, budget) packets; `work_ps` is to be done before."""
        raise NotImplementedError(self.path)

    @cython.ccall
    @cython.exceptval(-1)
    def poll_step(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Go on after a piece of work."""
        raise NotImplementedError(self.path)


@cython.final
@cython.cclass
class SoftirqNetRx(Softirqs):
    """NET_RX processing of one CPU.

    Args:
        sim: the simulation.
        path: component path.
        cpu: the CPU.
        entry_ps: work of entering `do_softirq` and `net_rx_action`.
        netdev_budget: packets in one round.
        max_restart: rounds before ksoftirqd takes over.
        time_limit_jiffies: a round ends when more jiffies than this have passed.
        jiffy_ps: length of a jiffy.
    """

    cpu: Cpu
    budget: cython.int
    head: Napi
    tail: Napi
    polling: Napi
    restarts: cython.int
    entry_left_ps: cython.longlong
    round_jiffy: cython.longlong
    entry_ps: cython.longlong
    netdev_budget: cython.int
    max_restart: cython.int
    time_limit_jiffies: cython.int
    jiffy_ps: cython.longlong
    ksoftirqd: Any
    rounds: cython.longlong
    polls: cython.longlong
    time_squeezes: cython.longlong
    ksoftirqd_wakeups: cython.longlong

    def __init__(
        self,
        sim: Simulator,
        path: str,
        cpu: Cpu,
        entry_ps: int,
        netdev_budget: int,
        max_restart: int,
        time_limit_jiffies: int,
        jiffy_ps: int,
    ) -> None:
        super().__init__(sim, path)
        self.cpu = cpu
        self.pending = False
        self.budget = 0
        self.head = None
        self.tail = None
        self.polling = None
        self.restarts = 0
        self.entry_left_ps = 0
        self.round_jiffy = 0
        self.entry_ps = entry_ps
        self.netdev_budget = netdev_budget
        self.max_restart = max_restart
        self.time_limit_jiffies = time_limit_jiffies
        self.jiffy_ps = jiffy_ps
        self.ksoftirqd = None
        self.rounds = 0
        self.polls = 0
        self.time_squeezes = 0
        self.ksoftirqd_wakeups = 0
        cpu.softirqs = self

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def schedule(self, napi: Napi) -> cython.int:
        """`__netif_rx_schedule`: put the device on this CPU's poll list, raise NET_RX."""
        if napi.quota < 0:
            napi.quota += napi.weight
        else:
            napi.quota = napi.weight
        napi.scheduled = True
        self._append(napi)
        self.pending = True
        return 0

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def complete(self, napi: Napi) -> cython.int:
        """`netif_rx_complete`: the device at the head has no work left."""
        self.head = napi.next_polled
        if self.head is None:
            self.tail = None
        napi.next_polled = None
        napi.scheduled = False
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _append(self, napi: Napi) -> cython.int:
        napi.next_polled = None
        if self.tail is None:
            self.head = napi
        else:
            self.tail.next_polled = napi
        self.tail = napi
        return 0

    def begin(self, cpu: Cpu) -> None:
        """`do_softirq`: execute what is pending."""
        self.restarts = self.max_restart
        self._round(cpu)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _round(self, cpu: Cpu) -> cython.int:
        self.pending = False
        self.rounds += 1
        self.budget = self.netdev_budget
        self.round_jiffy = self.sim.now // self.jiffy_ps
        self.entry_left_ps = self.entry_ps
        self._next_device(cpu)
        return 0

    def step(self, cpu: Cpu) -> None:
        """Go on with the round."""
        self._polled(cpu, self.polling.poll_step(cpu, self))

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _polled(self, cpu: Cpu, verdict: cython.int) -> cython.int:
        napi: Napi
        if verdict == _CONTINUES:
            return 0
        if verdict != _DONE:
            napi = self.polling
            self._rotate(napi)
        self._next_device(cpu)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _rotate(self, napi: Napi) -> cython.int:
        """Move the device at the head to the tail and refill its quota."""
        if self.head is not self.tail:
            self.head = napi.next_polled
            self._append(napi)
        if napi.quota < 0:
            napi.quota += napi.weight
        else:
            napi.quota = napi.weight
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _next_device(self, cpu: Cpu) -> cython.int:
        napi: Napi
        verdict: cython.int
        while self.head is not None:
            if (
                self.budget <= 0
                or self.sim.now // self.jiffy_ps - self.round_jiffy > self.time_limit_jiffies
            ):
                self.time_squeezes += 1
                self.pending = True
                break
            napi = self.head
            if napi.quota <= 0:
                self._rotate(napi)
                continue
            self.polls += 1
            self.polling = napi
            verdict = napi.poll_begin(cpu, self, self.budget, self.entry_left_ps)
            self.entry_left_ps = 0
            if verdict == _CONTINUES:
                return 0
            if verdict != _DONE:
                self._rotate(napi)
        if self.pending:
            self.restarts -= 1
            if self.restarts > 0:
                self._round(cpu)
            else:
                self.ksoftirqd_wakeups += 1
                if self.ksoftirqd is not None:
                    self.ksoftirqd.wake_on(cpu)
        return 0

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def charge(self, packets: cython.int) -> cython.int:
        """Take `packets` off the round's budget."""
        self.budget -= packets
        return 0
