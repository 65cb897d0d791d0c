"""NET_RX softirq and the device poll list of one CPU.

Source: net/core/dev.c `net_rx_action` and kernel/softirq.c `__do_softirq` of 2.6.18, which
bracket 2.6.16 together with 2.6.12, and of RHEL 6.1; what differs is in `SoftirqRules`. A device
is on at most one poll list, and stays with the CPU that scheduled it until its poll has nothing
left to do. One round handles at most `netdev_budget` packets or until `jiffies` has moved on by
more than `net_rx_time_limit`; after `MAX_SOFTIRQ_RESTART` rounds the rest is left to ksoftirqd.
At the end of a round interrupts are sent to the CPUs for which it has queued packets.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.host.accounting import SOFT_LEVEL, SOFTIRQ, SYSTEM
from simnet.host.cpu import Context, Cpu, Softirqs
from simnet.host.ledger import Ledger
from simnet.host.softirq.verdict import POLL_CONTINUES, POLL_MORE
from simnet.host.softirq.version import SoftirqRules
from simnet.kernel.compiled import Public
from simnet.kernel.simulator import Simulator

_ALL: cython.int = 1 << 30


@cython.cclass
class Napi(Context):
    """A device with a poll function.

    A poll is a sequence of pieces of work on the CPU: `poll_begin` and `poll_step` either ask
    the CPU for more work and return POLL_CONTINUES, or return POLL_DONE (nothing left, the
    device has left the list through `SoftirqNetRx.complete`) or POLL_MORE (others have their turn
    first).
    """

    next_polled: Public[Napi] = None  # the next on the poll list
    next_ipi: Napi = None  # the next in the list of those whose CPUs are sent an interrupt
    home: Cpu = None  # the CPU that alone polls it (a backlog); None for a device
    ipis_first: cython.bint = False  # interrupts that are due are sent before it is polled
    scheduled: Public[cython.bint] = False
    quota: Public[cython.int] = 0
    weight: Public[cython.int] = 0

    def __init__(self, sim: Simulator, path: str, weight: cython.int) -> None:
        super().__init__(sim, path)
        self.quota = weight
        self.weight = weight

    def instance_of(self) -> Context:
        """Return what processes may poll it by (`NapiInstance`); None where there is nothing."""
        return None

    def set_home(self, cpu: Cpu) -> None:
        """Bind it to the one CPU that polls it."""
        self.home = cpu

    def poll_begin(
        self, cpu: Cpu, softirq: SoftirqNetRx, budget: cython.int, work_ps: cython.longlong
    ) -> cython.int:
        """Start polling at most min(quota, budget) packets; `work_ps` is to be done before."""
        raise NotImplementedError(self.path)

    def poll_step(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Go on after a piece of work."""
        raise NotImplementedError(self.path)

    @cython.cfunc
    def leave(self, softirq: SoftirqNetRx, packets: cython.int, verdict: cython.int) -> cython.int:
        """End a poll of so many packets; return the verdict."""
        self.quota -= packets
        softirq.charge(packets)
        return verdict


@cython.cclass
class ProcessPoll(Context):
    """Who polls a device in process context, with bottom halves disabled."""

    def polled(self, cpu: Cpu) -> cython.int:
        """The poll that `SoftirqNetRx.poll_now` has begun is over."""
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
        rules: of the kernel's version.
        ipi_ps: work of sending one interprocessor interrupt, and of taking it.
        ledger: where those are booked.
    """

    cpu: Cpu = None
    budget: cython.int = 0
    head: Napi = None
    tail: Napi = None
    polling: Napi = None
    restarts: cython.int = 0
    entry_left_ps: cython.longlong = 0
    round_jiffy: cython.longlong = 0
    entry_ps: cython.longlong = 0
    netdev_budget: cython.int = 0
    max_restart: cython.int = 0
    time_limit_jiffies: cython.int = 0
    jiffy_ps: cython.longlong = 0
    weight_each_poll: cython.bint = False
    restart_jiffies: cython.longlong = 0
    stops_for_processes: cython.bint = False
    polls_once: cython.bint = False
    thread_first: cython.bint = False
    restart_from: cython.longlong = 0
    left: cython.int = 0
    listed: cython.int = 0
    repoll_head: Napi = None
    repoll_tail: Napi = None
    ipi_ps: cython.longlong = 0
    ledger: Ledger = None
    ipi_head: Napi = None
    ipis_due: cython.int = 0
    sending: cython.bint = False
    process: ProcessPoll = None
    mode: cython.int = 0  # what a poll's time is accounted to
    ipis: cython.longlong = 0
    ksoftirqd: Public[Any] = None
    rounds: cython.longlong = 0
    polls: cython.longlong = 0
    time_squeezes: cython.longlong = 0
    ksoftirqd_wakeups: cython.longlong = 0

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
        rules: SoftirqRules | None = None,
        ipi_ps: int = 0,
        ledger: Ledger | None = None,
    ) -> None:
        super().__init__(sim, path)
        self.cpu = cpu
        self.entry_ps = entry_ps
        self.netdev_budget = netdev_budget
        self.max_restart = max_restart
        self.time_limit_jiffies = time_limit_jiffies
        self.jiffy_ps = jiffy_ps
        rules = rules or SoftirqRules()
        self.weight_each_poll = rules.weight_each_poll
        # a deadline that is `n` jiffies ahead has come when `n` have passed
        self.restart_jiffies = -(-rules.restart_time_ps // jiffy_ps)
        if rules.budget_time_ps > 0:
            self.time_limit_jiffies = -(-rules.budget_time_ps // jiffy_ps) - 1
        self.stops_for_processes = rules.stops_for_processes
        self.polls_once = rules.polls_once
        self.thread_first = rules.thread_first
        self.ipi_ps = ipi_ps
        self.ledger = ledger or Ledger()
        self.mode = SOFTIRQ
        cpu.softirqs = self

    def schedule(self, napi: Napi) -> cython.int:
        """`__netif_rx_schedule`: put the device on this CPU's poll list, raise NET_RX."""
        self._refill(napi)
        napi.scheduled = True
        self._append(napi)
        self.pending = True
        return 0

    def schedule_remote(self, napi: Napi) -> cython.int:
        """`rps_ipi_queued`: have `napi` scheduled by the CPU that it belongs to.

        That CPU gets an interrupt at the end of this round, one for all packets queued until then.
        """
        napi.scheduled = True
        napi.next_ipi = self.ipi_head
        self.ipi_head = napi
        self.ipis_due += 1
        self.pending = True
        return 0

    def complete(self, napi: Napi) -> cython.int:
        """`netif_rx_complete`: the device at the head has no work left."""
        self._take_head()
        napi.scheduled = False
        return 0

    def _refill(self, napi: Napi) -> cython.int:
        """Give a device its quota for the next polls."""
        if napi.quota < 0 and not self.weight_each_poll:
            napi.quota += napi.weight
        else:
            napi.quota = napi.weight
        return 0

    def _take_head(self) -> cython.int:
        """Take the first device off the poll list."""
        napi: Napi = self.head
        self.head = napi.next_polled
        if self.head is None:
            self.tail = None
        napi.next_polled = None
        self.listed -= 1
        return 0

    def _append(self, napi: Napi) -> cython.int:
        """Put a device at the end of the poll list."""
        napi.next_polled = None
        if self.tail is None:
            self.head = napi
        else:
            self.tail.next_polled = napi
        self.tail = napi
        self.listed += 1
        return 0

    def begin(self, cpu: Cpu) -> None:
        """`do_softirq`: execute what is pending."""
        if (
            self.thread_first
            and self.ksoftirqd is not None
            and not self.ksoftirqd.sleeping
            and cpu.current is not self.ksoftirqd
        ):
            return
        self.restarts = self.max_restart
        self.restart_from = self.sim.now // self.jiffy_ps
        self._round(cpu)

    def _round(self, cpu: Cpu) -> cython.int:
        """Begin a round with its budget (`net_rx_action`)."""
        self.pending = False
        self.rounds += 1
        self.budget = self.netdev_budget
        self.round_jiffy = self.sim.now // self.jiffy_ps
        self.entry_left_ps = self.entry_ps
        self.left = self.listed if self.polls_once else _ALL
        self._next_device(cpu)
        return 0

    def step(self, cpu: Cpu) -> None:
        """Go on with the round, or with the poll of a process."""
        if self.process is not None:
            if self.polling.poll_step(cpu, self) != POLL_CONTINUES:
                self._process_polled(cpu)
        elif self.sending:
            self._send_ipis()
            self._next_device(cpu)
        else:
            self._polled(cpu, self.polling.poll_step(cpu, self))

    def _polled(self, cpu: Cpu, verdict: cython.int) -> cython.int:
        """Go on after a piece of work of a poll."""
        if verdict == POLL_CONTINUES:
            return 0
        if verdict == POLL_MORE:
            self._rotate(self.polling)
        self._next_device(cpu)
        return 0

    def _rotate(self, napi: Napi) -> cython.int:
        """Move the device at the head to the tail and refill its quota."""
        if self.polls_once:
            self._take_head()
            if self.repoll_tail is None:
                self.repoll_head = napi
            else:
                self.repoll_tail.next_polled = napi
            self.repoll_tail = napi
        elif self.head is not self.tail:
            self._take_head()
            self._append(napi)
        self._refill(napi)
        return 0

    def _over(self) -> cython.bint:
        """Whether the round's packets or its time are used up."""
        return (
            self.budget <= 0
            or self.sim.now // self.jiffy_ps - self.round_jiffy > self.time_limit_jiffies
        )

    def _next_device(self, cpu: Cpu) -> cython.int:
        """Poll the listed devices in turn, until one works or the round is over."""
        napi: Napi
        verdict: cython.int
        while self.head is not None and self.left > 0:
            if self._over():
                self.time_squeezes += 1
                self.pending = True
                break
            napi = self.head
            if napi.quota <= 0:
                self._rotate(napi)
                continue
            if self.ipis_due > 0 and napi.ipis_first:
                self._start_ipis(cpu)
                return 0
            self.polls += 1
            self.left -= 1
            self.polling = napi
            verdict = napi.poll_begin(
                cpu, self, napi.weight if self.weight_each_poll else self.budget, self.entry_left_ps
            )
            self.entry_left_ps = 0
            if verdict == POLL_CONTINUES:
                return 0
            if verdict == POLL_MORE:
                self._rotate(napi)
        if self.repoll_head is not None:
            while self.repoll_head is not None:
                napi = self.repoll_head
                self.repoll_head = napi.next_polled
                self._append(napi)
            self.repoll_tail = None
        if self.polls_once and self.head is not None:
            self.pending = True
        if self.ipis_due > 0:
            self._start_ipis(cpu)
            # no device is polled once they are sent: this round is over
            self.left = 0
            return 0
        if self.pending:
            self._again(cpu)
        return 0

    def _again(self, cpu: Cpu) -> cython.int:
        """`__do_softirq`: another round, or the thread."""
        self.restarts -= 1
        if (
            self.restarts > 0
            and (
                self.restart_jiffies == 0
                or self.sim.now // self.jiffy_ps - self.restart_from < self.restart_jiffies
            )
            and not (self.stops_for_processes and cpu.need_resched)
        ):
            self._round(cpu)
        else:
            self.ksoftirqd_wakeups += 1
            if self.ksoftirqd is not None:
                self.ksoftirqd.wake_on(cpu)
        return 0

    # -- interrupts to other CPUs ---------------------------------------------------------

    def _start_ipis(self, cpu: Cpu) -> cython.int:
        """`net_rps_action`: write the interrupts that are due to the local APIC."""
        work: cython.longlong = self.ipis_due * self.ipi_ps
        self.sending = True
        self.ledger.softirq += work + self.entry_left_ps
        work += self.entry_left_ps
        self.entry_left_ps = 0
        cpu.run(SOFT_LEVEL, self, work, SOFTIRQ)
        return 0

    def _send_ipis(self) -> cython.int:
        """The interrupts have been written, all at once; the other CPUs take them."""
        napi: Napi = self.ipi_head
        following: Napi
        self.sending = False
        self.ipi_head = None
        self.ipis += self.ipis_due
        self.ledger.hardirq += self.ipis_due * self.ipi_ps
        self.ipis_due = 0
        while napi is not None:
            following = napi.next_ipi
            napi.next_ipi = None
            napi.home.raise_irq(napi, self.ipi_ps)
            napi = following
        return 0

    def charge(self, packets: cython.int) -> cython.int:
        """Take `packets` off the round's budget."""
        self.budget -= packets
        return 0

    # -- polls of processes ---------------------------------------------------------------

    def poll_now(
        self,
        cpu: Cpu,
        napi: Napi,
        process: ProcessPoll,
        budget: cython.int,
        work_ps: cython.longlong,
    ) -> cython.int:
        """Poll a device that is on no list for a process of this CPU, which is in `step`.

        Its time is the process's in the kernel. `process.polled` follows.
        """
        self.process = process
        self.mode = SYSTEM
        self.polling = napi
        self.polls += 1
        if napi.poll_begin(cpu, self, budget, work_ps) != POLL_CONTINUES:
            self._process_polled(cpu)
        return 0

    def _process_polled(self, cpu: Cpu) -> cython.int:
        """The poll of a process is over."""
        process: ProcessPoll = self.process
        self.process = None
        self.mode = SOFTIRQ
        return process.polled(cpu)
