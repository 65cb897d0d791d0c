"""A queueing discipline: which packet a transmit ring gets next, and which gets none.

Source: include/net/sch_generic.h and net/sched/sch_generic.c of Linux 6.12 (`struct Qdisc`,
`pfifo_fast_enqueue`, `pfifo_fast_dequeue`). All packets here have one priority, so that one of
pfifo_fast's three bands is used.
"""

# mypy: no-strict-optional
from __future__ import annotations

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.sentinel import NEVER
from simnet.net.link.skb import CE, ECT, Skb


@cython.final
@cython.cclass
class Packet:
    """An `sk_buff` of a queueing discipline: one segment, or a large one with its parts."""

    # its segments, linked by `next`
    head: Skb = None
    tail: Skb = None
    segments: cython.int = 0  # how many
    bytes: cython.longlong = 0  # of all of them, with their headers (`qdisc_pkt_len`)
    # when the discipline got it; of fq, before when it does not leave
    enqueued_ps: Public[cython.longlong] = 0
    next: Packet = None

    def __init__(self, skb: Skb, counted_bytes: int) -> None:
        self.head = skb
        self.tail = skb
        self.segments = 1
        self.bytes = counted_bytes

    def add(self, skb: Skb, counted_bytes: cython.longlong) -> cython.int:
        """One more segment of a large one."""
        self.tail.next = skb
        self.tail = skb
        self.segments += 1
        self.bytes += counted_bytes
        return 0

    def set_ce(self) -> cython.bint:
        """`INET_ECN_set_ce`: mark it; return False if it may not be marked."""
        skb: Skb = self.head
        if not skb.ecn & (ECT | CE):
            return False
        while skb is not None:
            skb.ecn = skb.ecn & ~ECT | CE
            skb = skb.next
        return True


@cython.final
@cython.cclass
class PacketList:
    """Packets in order; `segments` and `bytes` are those of all of them."""

    head: Packet = None
    tail: Packet = None
    count: cython.int = 0
    segments: cython.int = 0
    bytes: cython.longlong = 0

    def append(self, packet: Packet) -> cython.int:
        """Put a packet to the end."""
        packet.next = None
        if self.head is None:
            self.head = packet
        else:
            self.tail.next = packet
        self.tail = packet
        self.count += 1
        self.segments += packet.segments
        self.bytes += packet.bytes
        return 0

    def pop(self) -> Packet:
        """Take the first packet; None if there is none."""
        packet: Packet = self.head
        if packet is not None:
            self.head = packet.next
            packet.next = None
            self.count -= 1
            self.segments -= packet.segments
            self.bytes -= packet.bytes
        return packet


@cython.cclass
class Qdisc:
    """What waits for one transmit queue."""

    dropped: PacketList = None  # packets that it has given up, for its owner to free
    segments: cython.int = 0  # that wait

    def __init__(self) -> None:
        self.dropped = PacketList()

    def enqueue(self, packet: Packet, now: cython.longlong) -> cython.int:
        """Take a packet, or drop one."""
        raise NotImplementedError

    def dequeue(self, now: cython.longlong) -> Packet:
        """The packet that goes next; None if none does."""
        raise NotImplementedError

    def marks(self) -> cython.longlong:
        """Packets that it has marked."""
        return 0

    def over_limit(self) -> cython.longlong:
        """Packets that it has given up because there was no room."""
        return 0

    def next_ps(self) -> cython.longlong:
        """When to ask again, if nothing comes and nothing is freed; NEVER for not at all."""
        return NEVER


@cython.final
@cython.cclass
class PfifoFast(Qdisc):
    """First in, first out."""

    limit: cython.int = 0  # packets that may wait (txqueuelen)
    waiting: PacketList = None

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self.waiting = PacketList()

    def enqueue(self, packet: Packet, now: cython.longlong) -> cython.int:
        """Take a packet if there is room."""
        if self.waiting.count >= self.limit:
            self.dropped.append(packet)
        else:
            self.waiting.append(packet)
            self.segments += packet.segments
        return 0

    def dequeue(self, now: cython.longlong) -> Packet:
        """The oldest packet."""
        packet: Packet = self.waiting.pop()
        if packet is not None:
            self.segments -= packet.segments
        return packet
