"""fq_codel: a queue for each flow, served in turn by bytes, each kept short by CoDel.

Source: net/sched/sch_fq_codel.c of Linux 5.4 to 6.12; RFC 8290. A flow is the hash of its packets
modulo the number of queues. ECN is not marked here: what CoDel signals is dropped. The limit of
memory (32 MB) is left out.
"""

# mypy: no-strict-optional
from __future__ import annotations

from typing import Any

import cython

from simnet.net.link.skb import Header
from simnet.net.qdisc.codel import Codel, CodelLimits
from simnet.net.qdisc.qdisc import Packet, PacketList, Qdisc
from simnet.net.steering.flow_hash import connection_hash

_DROP_BATCH: cython.longlong = 64


@cython.final
@cython.cclass
class FqCodelFlow:
    """One queue."""

    codel: Codel = None
    deficit: cython.longlong = 0  # bytes that it may still send in its turn
    listed: cython.bint = False  # it is among the flows of the discipline
    next: FqCodelFlow = None

    def __init__(self, codel: Codel) -> None:
        self.codel = codel


@cython.final
@cython.cclass
class FlowList:
    """Flows in the order of their turns (`new_flows`, `old_flows`)."""

    head: FqCodelFlow = None
    tail: FqCodelFlow = None

    @cython.cfunc
    def append(self, flow: FqCodelFlow) -> cython.int:
        """Put a flow to the end."""
        flow.next = None
        if self.head is None:
            self.head = flow
        else:
            self.tail.next = flow
        self.tail = flow
        return 0

    @cython.cfunc
    def pop(self) -> cython.int:
        """Take the first flow out."""
        self.head = self.head.next
        return 0


@cython.final
@cython.cclass
class FqCodel(Qdisc):
    """The discipline.

    Args:
        limits: of CoDel.
        flows: queues.
        limit: packets of all of them.
        quantum: bytes of a turn.
        perturbation: of the hash, 32 bits.
    """

    flows: list[Any] = None
    count: cython.longlong = 0
    limit: cython.longlong = 0
    quantum: cython.longlong = 0
    perturbation: cython.longlong = 0
    new_flows: FlowList = None
    old_flows: FlowList = None
    packets: cython.longlong = 0
    backlog: cython.longlong = 0
    new_flow_count: cython.longlong = 0  # how often a flow became one
    drop_overlimit: cython.longlong = 0  # packets dropped because `limit` was reached
    codel_drops: cython.longlong = 0  # packets that CoDel dropped

    def __init__(
        self, limits: CodelLimits, *, flows: int, limit: int, quantum: int, perturbation: int
    ) -> None:
        super().__init__()
        self.flows = [FqCodelFlow(Codel(limits, PacketList(), self.dropped)) for _ in range(flows)]
        self.count = flows
        self.limit = limit
        self.quantum = quantum
        self.perturbation = perturbation
        self.new_flows = FlowList()
        self.old_flows = FlowList()

    def _flow_of(self, packet: Packet) -> FqCodelFlow:
        """`fq_codel_hash`."""
        header: Header = packet.head.header
        number: cython.longlong = 0
        if header is not None:
            number = connection_hash(
                header.source_ip,
                header.destination_ip,
                header.source_port,
                header.destination_port,
                self.perturbation,
                False,
                True,
            )
            number = number * self.count >> 32
        return self.flows[number]

    def enqueue(self, packet: Packet, now: cython.longlong) -> cython.int:
        """`fq_codel_enqueue`; beyond the limit the longest queue loses up to half of it."""
        flow: FqCodelFlow = self._flow_of(packet)
        packet.enqueued_ps = now
        flow.codel.waiting.append(packet)
        self.packets += 1
        self.segments += packet.segments
        self.backlog += packet.bytes
        if not flow.listed:
            flow.listed = True
            flow.deficit = self.quantum
            self.new_flow_count += 1
            self.new_flows.append(flow)
        if self.packets > self.limit:
            self._drop()
        return 0

    def _drop(self) -> cython.int:
        """`fq_codel_drop`: from the head of the longest queue, 64 packets at most."""
        flow: FqCodelFlow
        fattest: FqCodelFlow = self.flows[0]
        packet: Packet
        dropped: cython.longlong = 0
        length: cython.longlong = 0
        threshold: cython.longlong
        for flow in self.flows:
            if flow.codel.waiting.bytes > fattest.codel.waiting.bytes:
                fattest = flow
        threshold = fattest.codel.waiting.bytes >> 1
        while True:
            packet = fattest.codel.waiting.pop()
            dropped += 1
            length += packet.bytes
            self.packets -= 1
            self.segments -= packet.segments
            self.backlog -= packet.bytes
            self.dropped.append(packet)
            if dropped >= _DROP_BATCH or length >= threshold:
                break
        self.drop_overlimit += dropped
        return fattest.codel.penalise(dropped)

    def dequeue(self, now: cython.longlong) -> Packet:
        """`fq_codel_dequeue`: flows that came last go first, for one turn."""
        turns: FlowList
        flow: FqCodelFlow
        packet: Packet
        while True:
            turns = self.new_flows if self.new_flows.head is not None else self.old_flows
            flow = turns.head
            if flow is None:
                return flow
            if flow.deficit <= 0:
                flow.deficit += self.quantum
                turns.pop()
                self.old_flows.append(flow)
                continue
            packet = self._taken(flow, now)
            if packet is not None:
                flow.deficit -= packet.bytes
                return packet
            turns.pop()
            if turns is self.new_flows and self.old_flows.head is not None:
                # a pass through the old flows, so that these do not starve
                self.old_flows.append(flow)
            else:
                flow.listed = False

    def _taken(self, flow: FqCodelFlow, now: cython.longlong) -> Packet:
        """What CoDel lets a flow send; what it drops does not wait any longer, either."""
        waiting: PacketList = flow.codel.waiting
        packets: cython.longlong = waiting.count
        length: cython.longlong = waiting.bytes
        segments: cython.int = waiting.segments
        drops: cython.longlong = self.dropped.count
        packet: Packet = flow.codel.dequeue(now, self.backlog)
        self.packets -= packets - waiting.count
        self.backlog -= length - waiting.bytes
        self.segments -= segments - waiting.segments
        self.codel_drops += self.dropped.count - drops
        return packet
