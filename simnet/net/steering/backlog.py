"""The backlog of a CPU: packets that others, or its own driver polls, have queued for its stack.

Source: net/core/dev.c `enqueue_to_backlog`, `process_backlog` and `trigger_softirq` of 2.6.32-131
(RHEL 6.1) and of 2.6.35 and later; which of the two is `SteeringRules.batches`. Up to
`netdev_max_backlog` packets wait, and one more: the length is compared before.
"""

import cython

from simnet.host.accounting import SOFT_LEVEL, SOFTIRQ
from simnet.host.costs import Buffers, Costs, SharedLines, Spread
from simnet.host.cpu import Cpu
from simnet.host.ledger import Ledger
from simnet.host.softirq.softirq import Napi, SoftirqNetRx
from simnet.host.softirq.verdict import POLL_CONTINUES, POLL_DONE, POLL_MORE
from simnet.kernel.compiled import Public
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Skb, SkbQueue
from simnet.net.steering.version import SteeringRules

_STAYS: cython.int = 3


@cython.final
@cython.cclass
class Backlog(Napi):
    """The receiving part of one CPU's `softnet_data`.

    Args:
        cpu: whose it is.
        weight: `dev_weight`, packets of a poll.
        limit: `netdev_max_backlog`.
        costs: of the machine's CPUs.
        lines: the lines that queueing a packet writes: lock, queue and counters.
        rules: of the kernel.

    Attributes:
        head, tail: packets that have been taken, and queued, so far: `input_queue_head` and
            the same with the length added.
        accepted: whether the last packet was queued.
        queued, processed, drops: packets.
        received_rps: interrupts taken from other CPUs.
    """

    costs: Costs = None
    ledger: Ledger = None
    buffers: Buffers = None
    lines: SharedLines = None
    most: cython.int = 0
    batches: cython.bint = False
    input_queue: SkbQueue = None
    taken: SkbQueue = None
    current: Skb = None
    head: cython.longlong = 0
    tail: cython.longlong = 0
    accepted: cython.bint = False
    limit: cython.int = 0
    done: cython.int = 0
    start_jiffy: cython.longlong = 0
    completed: cython.bint = False
    in_stack: cython.bint = False
    spread: Public[Spread] = None
    processed: cython.longlong = 0
    drops: cython.longlong = 0
    received_rps: cython.longlong = 0

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        cpu: Cpu,
        weight: int,
        limit: int,
        costs: Costs,
        buffers: Buffers,
        lines: SharedLines,
        rules: SteeringRules,
    ) -> None:
        super().__init__(sim, path, weight)
        self.set_home(cpu)
        self.ipis_first = rules.batches
        self.costs = costs
        self.ledger = costs.ledger
        self.buffers = buffers
        self.lines = lines
        self.most = limit
        self.batches = rules.batches
        self.input_queue = SkbQueue()
        self.taken = SkbQueue()
        self.spread = Spread(0, 0)

    @property
    def queued(self) -> int:
        """Packets that have been queued so far."""
        return self.tail

    @property
    def waiting(self) -> int:
        """Packets that wait now, the one in the stack not counted."""
        return self.input_queue.count + self.taken.count

    # -- the CPU that has the packet ------------------------------------------------------

    def enqueue(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """`enqueue_to_backlog` on `cpu`; return the work, in ps. `accepted` says if it was queued.

        In a softirq only: the poll or the interrupt follows in its round.
        """
        softirqs: SoftirqNetRx
        lines_ps: cython.longlong = self.lines.touch(cpu)
        work: cython.longlong = self.costs.backlog_ps
        self.ledger.skb_lines += lines_ps
        self.accepted = self.input_queue.count <= self.most
        if not self.accepted:
            self.drops += 1
            work += self.costs.skb_free_ps
        else:
            if self.input_queue.count == 0 and not self.scheduled:
                softirqs = cpu.softirqs  # type: ignore[assignment]  # Cython checks it
                if cpu is self.home:
                    softirqs.schedule(self)
                else:
                    softirqs.schedule_remote(self)
            self.input_queue.append(skb)
            self.tail += 1
            if self.sim.tracer is not None:
                self._trace()
        self.ledger.softirq += work
        return work + lines_ps

    def step(self, cpu: Cpu) -> None:
        """`trigger_softirq`: the interrupt of a CPU that has queued packets has been taken."""
        softirqs: SoftirqNetRx = cpu.softirqs  # type: ignore[assignment]  # Cython checks it
        self.received_rps += 1
        softirqs.schedule(self)

    # -- its own CPU ----------------------------------------------------------------------

    def poll_begin(
        self, cpu: Cpu, softirq: SoftirqNetRx, budget: cython.int, work_ps: cython.longlong
    ) -> cython.int:
        """`process_backlog`: start on the first packet."""
        self.limit = self.quota if self.quota < budget else budget
        self.done = 0
        self.completed = False
        self.start_jiffy = self.sim.now // softirq.jiffy_ps
        self.ledger.softirq += work_ps
        if work_ps > 0:
            cpu.run(SOFT_LEVEL, softirq, work_ps, SOFTIRQ)
            return POLL_CONTINUES
        return self._next_packet(cpu, softirq)

    def poll_step(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Go on after a piece of work."""
        skb: Skb = self.current
        work: cython.longlong
        if skb is not None:
            self.current = None
            self.in_stack = True
            work = skb.endpoint.receive(skb, cpu)
            if work > 0:
                # what TCP does is over before the queue is looked at again
                cpu.run(SOFT_LEVEL, softirq, work, SOFTIRQ)
                return POLL_CONTINUES
        if self.in_stack:
            self.in_stack = False
            self.done += 1
            self.processed += 1
            if self.batches:
                self.head += 1
            elif self.done >= self.limit:
                return self.leave(softirq, self.done, POLL_MORE)
            elif self.sim.now // softirq.jiffy_ps != self.start_jiffy:
                return self.leave(softirq, self.done, _STAYS)
        return self._next_packet(cpu, softirq)

    def _next_packet(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Take a packet and start on it, or leave the poll list."""
        skb: Skb
        lines_ps: cython.longlong = 0
        work: cython.longlong
        if self.batches and self.done >= self.limit:
            return self.leave(softirq, self.done, POLL_DONE if self.completed else POLL_MORE)
        if (not self.batches or self.taken.count == 0) and self.input_queue.count > 0:
            lines_ps = self.lines.touch(cpu)
            self.ledger.skb_lines += lines_ps
        if self.batches:
            if self.taken.count == 0:
                self._take_all(softirq)
                if self.taken.count == 0:
                    return self.leave(softirq, self.done, POLL_DONE)
            skb = self.taken.pop()
        else:
            if self.input_queue.count == 0:
                softirq.complete(self)
                return self.leave(softirq, self.done, POLL_DONE)
            skb = self.input_queue.pop()
            self.head += 1
        if self.sim.tracer is not None:
            self._trace()
        self.current = skb
        # what the driver's CPU wrote of sk_buff and headers comes over; it is freed there no more
        lines_ps += self.buffers.freed_ps(cpu, skb.toucher)
        skb.toucher = cpu
        work = self.spread.vary(self.costs.ip_rx_ps)
        self.ledger.driver += work
        cpu.run(SOFT_LEVEL, softirq, work + lines_ps, SOFTIRQ)
        return POLL_CONTINUES

    def _take_all(self, softirq: SoftirqNetRx) -> cython.int:
        """Take what waits; if it is less than the poll may still do, leave the list already."""
        waiting: SkbQueue = self.input_queue
        self.input_queue = self.taken
        self.taken = waiting
        if not self.completed and waiting.count < self.limit - self.done:
            self.limit = self.done + waiting.count
            self.completed = True
            softirq.complete(self)
        return 0

    def _trace(self) -> None:
        """Report to the tracer how many packets wait."""
        self.sim.tracer.counter(self.path, "packets in backlog", self.sim.now, self.waiting)
