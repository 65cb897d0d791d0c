"""fq: a queue for each socket, served in turn by bytes, and each packet not before its time.

Source: net/sched/sch_fq.c of Linux 6.7 to 6.12 (`fq_enqueue`, `fq_fastpath_check`, `fq_dequeue`,
`fq_check_throttled`). TCP gives each packet the time before which it should not leave (EDT, from
4.20). All packets have one priority, so one of the three bands is used. A flow is never forgotten,
and gets no new credit for having been idle (`flow_refill_delay`).
"""

# mypy: no-strict-optional

from collections import deque
from heapq import heappop, heappush

import cython

from simnet.kernel.sentinel import NEVER
from simnet.net.link.skb import Endpoint
from simnet.net.qdisc.qdisc import Packet, PacketList, Qdisc

# packets of the fast path, while others wait for their time
_FAST: cython.int = 8


@cython.final
@cython.cclass
class FqFlow:
    """The packets of one socket."""

    waiting: PacketList = None
    credit: cython.longlong = 0
    listed: cython.bint = False

    def __init__(self, credit: int) -> None:
        self.waiting = PacketList()
        self.credit = credit


@cython.final
@cython.cclass
class Fq(Qdisc):
    """The discipline."""

    limit: cython.longlong = 0  # packets of all flows
    flow_limit: cython.longlong = 0  # packets of one
    quantum: cython.longlong = 0  # bytes of a turn
    initial_quantum: cython.longlong = 0  # bytes that a flow begins with
    internal: PacketList = None
    flows: dict[Endpoint, FqFlow] = None
    new_flows: deque[FqFlow] = None
    old_flows: deque[FqFlow] = None
    delayed: list[tuple[int, int, FqFlow]] = None
    packets: cython.longlong = 0
    throttled: cython.longlong = 0  # how often a flow had to wait for its packet's time

    def __init__(self, *, limit: int, flow_limit: int, quantum: int, initial_quantum: int) -> None:
        super().__init__()
        self.limit = limit
        self.flow_limit = flow_limit
        self.quantum = quantum
        self.initial_quantum = initial_quantum
        self.internal = PacketList()
        self.flows = {}
        self.new_flows = deque()
        self.old_flows = deque()
        self.delayed = []

    def next_ps(self) -> cython.longlong:
        """When the first flow that waits for its time may send."""
        return self.delayed[0][0] if self.delayed else NEVER

    def enqueue(self, packet: Packet, now: cython.longlong) -> cython.int:
        """`fq_enqueue`; a packet that may go at once, with none before it, is of no flow."""
        flow: FqFlow
        packet.enqueued_ps = max(packet.head.arrival_ps, now)
        if self.packets >= self.limit:
            return self.dropped.append(packet)
        if packet.enqueued_ps <= now and self._is_fast(now):
            self.internal.append(packet)
        else:
            flow = self._flow_of(packet)
            if flow.waiting.count >= self.flow_limit:
                return self.dropped.append(packet)
            flow.waiting.append(packet)
            if not flow.listed:
                flow.listed = True
                self.new_flows.append(flow)
        self.packets += 1
        self.segments += packet.segments
        return 0

    def _is_fast(self, now: cython.longlong) -> cython.bint:
        """`fq_fastpath_check`: no flow could send."""
        return (
            len(self.new_flows) == 0
            and len(self.old_flows) == 0
            and (self.packets == 0 or self.internal.count < _FAST)
            and self.next_ps() > now
        )

    def _flow_of(self, packet: Packet) -> FqFlow:
        """`fq_classify`: by socket."""
        endpoint: Endpoint = packet.head.endpoint
        if endpoint not in self.flows:
            self.flows[endpoint] = FqFlow(self.initial_quantum)
        return self.flows[endpoint]

    def dequeue(self, now: cython.longlong) -> Packet:
        """`fq_dequeue`: flows that came last go first, for what credit they have."""
        packet: Packet = self.internal.pop()
        flow: FqFlow
        if packet is not None:
            return self._taken(packet)
        while self.next_ps() <= now:
            self.old_flows.append(heappop(self.delayed)[2])
        while True:
            turns = self.new_flows or self.old_flows
            if not turns:
                return packet
            flow = turns[0]
            packet = flow.waiting.head
            if flow.credit <= 0:
                flow.credit += self.quantum
                self.old_flows.append(turns.popleft())
            elif packet is None:
                turns.popleft()
                if turns is self.new_flows:
                    self.old_flows.append(flow)
                else:
                    flow.listed = False
            elif packet.enqueued_ps > now:
                self.throttled += 1
                heappush(self.delayed, (packet.enqueued_ps, self.throttled, turns.popleft()))
            else:
                flow.credit -= packet.bytes
                return self._taken(flow.waiting.pop())
            packet = None

    def _taken(self, packet: Packet) -> Packet:
        """A packet leaves."""
        self.packets -= 1
        self.segments -= packet.segments
        return packet
