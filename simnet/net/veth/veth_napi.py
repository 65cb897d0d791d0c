"""The NAPI instance of one end of a pair, and the ring that it polls.

Source: drivers/net/veth.c of Linux 5.13 and 6.12 (`veth_xdp_rx`, `__veth_xdp_flush`, `veth_poll`,
`veth_xdp_rcv`), without a program of XDP. A pair has one such queue unless it was made with more.
All CPUs that send to it put packets into the ring; the first one schedules the poll, which stays on
that CPU until the ring is empty. A packet that finds the ring full is dropped. Receive offload
passes datagrams on as they are.
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
from simnet.net.steering.steering import Steering

_WEIGHT: cython.int = 64


@cython.final
@cython.cclass
class VethNapi(Napi):
    """The instance of the end that receives."""

    size: cython.longlong = 0  # packets that the ring holds
    costs: Costs = None  # of the machine's CPUs
    ledger: Ledger = None
    buffers: Buffers = None
    lines: SharedLines = None  # the ring's lines, which whoever sends and the poll both write
    receive_ps: cython.longlong = 0  # taking a packet out of the ring, and `napi_gro_receive`
    steering: Steering = None  # RPS of this end; None for none
    spread: Spread = None  # of the work on a packet
    ring: SkbQueue = None
    current: Skb = None
    limit: cython.int = 0
    done: cython.int = 0
    in_stack: cython.bint = False
    accepted: cython.bint = False  # whether the last packet found room
    # packets
    queued: cython.longlong = 0
    processed: cython.longlong = 0
    drops: Public[cython.longlong] = 0

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        size: int,
        costs: Costs,
        buffers: Buffers,
        lines: SharedLines,
        receive_ps: int,
        steering: Steering | None,
        spread: Spread,
    ) -> None:
        super().__init__(sim, path, _WEIGHT)
        self.size = size
        self.costs = costs
        self.ledger = costs.ledger
        self.buffers = buffers
        self.lines = lines
        self.receive_ps = receive_ps
        self.steering = steering
        self.spread = spread
        self.ring = SkbQueue()

    @property
    def waiting(self) -> int:
        """Packets in the ring, the one in the stack not counted."""
        return int(self.ring.count)

    def enqueue(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """`veth_xdp_rx`, `__veth_xdp_flush` on `cpu`, in a softirq; return the work, in ps."""
        softirqs: SoftirqNetRx
        lines_ps: cython.longlong = self.lines.touch(cpu)
        self.ledger.skb_lines += lines_ps
        self.accepted = self.ring.count < self.size
        if not self.accepted:
            self.drops += 1
            self.ledger.softirq += self.costs.skb_free_ps
            return lines_ps + self.costs.skb_free_ps
        self.ring.append(skb)
        self.queued += 1
        if not self.scheduled:
            softirqs = cpu.softirqs  # type: ignore[assignment]  # Cython checks it
            softirqs.schedule(self)
        return lines_ps

    def poll_begin(
        self, cpu: Cpu, softirq: SoftirqNetRx, budget: cython.int, work_ps: cython.longlong
    ) -> cython.int:
        """`veth_poll`: start on the first packet."""
        work: cython.longlong = work_ps + self.costs.poll_ps
        self.limit = budget
        self.done = 0
        self.ledger.softirq += work
        cpu.run(SOFT_LEVEL, softirq, work, SOFTIRQ)
        return POLL_CONTINUES

    def poll_step(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Go on after a piece of work."""
        skb: Skb = self.current
        work: cython.longlong
        if skb is not None:
            self.current = None
            self.in_stack = True
            if self.steering is not None:
                work = self.steering.deliver(skb, cpu)
            else:
                work = self.spread.vary(self.costs.ip_rx_ps)
                self.ledger.driver += work
                work += skb.endpoint.receive(skb, cpu)
            if work > 0:
                cpu.run(SOFT_LEVEL, softirq, work, SOFTIRQ)
                return POLL_CONTINUES
        if self.in_stack:
            self.in_stack = False
            self.done += 1
            self.processed += 1
        if self.done >= self.limit:
            return self.leave(softirq, self.done, POLL_MORE)
        if self.ring.count == 0:
            softirq.complete(self)
            return self.leave(softirq, self.done, POLL_DONE)
        return self._take(cpu, softirq)

    def _take(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """`veth_xdp_rcv`: take the next packet out of the ring."""
        skb: Skb = self.ring.pop()
        lines_ps: cython.longlong = self.lines.touch(cpu)
        work: cython.longlong = self.spread.vary(self.receive_ps)
        self.ledger.softirq += work
        self.ledger.skb_lines += lines_ps
        lines_ps += self.buffers.freed_ps(cpu, skb.toucher)
        skb.toucher = cpu
        self.current = skb
        cpu.run(SOFT_LEVEL, softirq, work + lines_ps, SOFTIRQ)
        return POLL_CONTINUES
