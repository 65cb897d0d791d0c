"""Frames (Linux `sk_buff`), the ports at either end, and the links and the switch between these.

A frame enters the store-and-forward switch when its last bit has arrived, waits `latency`, queues
behind earlier frames of the egress port and is serialised again. The path has one source, so
arrival times are arithmetic: frames are put into the destination's `incoming` queue with their
arrival time as soon as they are sent. In per-frame mode, the reference, each arrival is an
event instead; results are the same to the last bit. It is an event, too, where a way lets frames
overtake others.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import cython

from simnet.host.cpu import Cpu
from simnet.host.dma.iommu import DmaDomain
from simnet.host.softirq.softirq import Napi
from simnet.kernel.compiled import Public
from simnet.kernel.component import Component
from simnet.kernel.sentinel import NONE
from simnet.kernel.simulator import Simulator
from simnet.net.link.netem import LOST, Netem

#: bits of a segment: it may be marked, it has been, ECE and CWR of its TCP header
ECT: cython.int = 1
CE: cython.int = 2
ECE: cython.int = 4
CWR: cython.int = 8


@cython.cclass
class Endpoint(Component):
    """Where the protocol layer hands a received frame; `freer` is the CPU that freed the last.

    `paged`: what it sends lies in pages of its own, apart from the headers.
    """

    freer: Public[Cpu] = None
    paged: cython.bint = False

    def __init__(self, sim: Simulator, path: str) -> None:
        super().__init__(sim, path)

    def receive(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """Take a frame in softirq context on `cpu`; return the work it caused, in ps."""
        raise NotImplementedError(self.path)

    def fetch(self, data: cython.bint) -> cython.int:
        """Ask for what the next call will need, if it may have left the cache.

        `data`: it sends or receives data; otherwise it takes a mere acknowledgement.
        """
        return 0

    def wfree(self, length: cython.longlong, cpu: Cpu) -> cython.longlong:
        """`cpu` frees a frame with `length` bytes of payload that this owns; return the work."""
        return 0

    def queued(self, length: cython.longlong) -> cython.int:
        """A device's ring has taken a frame with `length` bytes of payload that it owns."""
        return 0

    def tsq_handler(self, cpu: Cpu) -> cython.longlong:
        """Send what may go now that a frame has been freed; return the work on `cpu`."""
        return 0

    def only_queues(self, cpu: Cpu) -> cython.bint:
        """Whether frames handed over now on `cpu` only queue up, unseen by any other CPU.

        Then a poll may handle several frames as one piece of work without changing any result.
        """
        return False


@cython.cclass
class EgressPort(Component):
    """Where a switch sends frames to: a port, or several that are one."""

    def forward(self, skb: Skb) -> cython.int:
        """Take a frame that leaves the switch here."""
        raise NotImplementedError(self.path)


@cython.cclass
class Uplink(Component):
    """Where a host of which only TCP is simulated sends its frames."""

    def send(self, skb: Skb) -> cython.int:
        """Take a frame."""
        raise NotImplementedError(self.path)


@cython.final
@cython.cclass
class Station:
    """An Ethernet address, and the outlet behind which the switch has learnt that it is."""

    mac: cython.longlong = 0  # 48 bits
    outlet: Public[EgressPort] = None

    def __init__(self, mac: int) -> None:
        self.mac = mac


@cython.final
@cython.cclass
class Header:
    """What switches and bonds look at: addresses and TCP ports, the same for a connection."""

    # Ethernet addresses
    source: Public[Station] = None
    destination: Public[Station] = None
    # 32 bits
    source_ip: cython.longlong = 0
    destination_ip: cython.longlong = 0
    # of TCP or UDP
    source_port: cython.int = 0
    destination_port: cython.int = 0
    # the receiving NIC's hash of the connection, 32 bits; -1 until it is computed
    rss_hash: Public[cython.longlong] = 0
    # the receiving host's, by which it steers packets; -1 until it is computed
    rxhash: Public[cython.longlong] = 0

    def __init__(
        self,
        source: Station,
        destination: Station,
        source_ip: int = 0,
        destination_ip: int = 0,
        source_port: int = 0,
        destination_port: int = 0,
    ) -> None:
        self.source = source
        self.destination = destination
        self.source_ip = source_ip
        self.destination_ip = destination_ip
        self.source_port = source_port
        self.destination_port = destination_port
        self.rss_hash = -1
        self.rxhash = -1

    def turned(self) -> Header:
        """Of the frames the other way."""
        return Header(
            self.destination,
            self.source,
            self.destination_ip,
            self.source_ip,
            self.destination_port,
            self.source_port,
        )

    def sent_from(self, source: Station) -> Header:
        """The same with another source address."""
        return Header(
            source,
            self.destination,
            self.source_ip,
            self.destination_ip,
            self.source_port,
            self.destination_port,
        )


@cython.final
@cython.freelist(4096)
@cython.cclass
class Skb:
    """One frame on its way."""

    next: Public[Skb] = None
    endpoint: Public[Endpoint] = None  # receiver
    arrival_ps: Public[cython.longlong] = 0  # when its last bit is in the receiving NIC
    # TCP sequence numbers of the payload (first, last plus one)
    seq: Public[cython.longlong] = 0
    end_seq: Public[cython.longlong] = 0
    wire_bytes: Public[cython.int] = 0  # length on the wire with preamble, FCS and gap
    push: Public[cython.bint] = False  # TCP PSH flag
    # acknowledgement number and offered window, bytes
    ack: Public[cython.longlong] = 0
    window: Public[cython.longlong] = 0
    toucher: Public[Cpu] = None  # the CPU that wrote the `sk_buff` last
    owner: Public[Endpoint] = None  # the sender, if it is to know when the frame is freed
    header: Public[Header] = None  # addresses; None where the path alone says where the frame goes
    # node of the buffer's memory, and of the device that wrote it
    home_node: Public[cython.int] = 0
    writer_node: Public[cython.int] = 0
    # the SACK option: (first byte, last plus one) of up to four blocks, D-SACK first; None if
    # there is none
    sack: Public[list[Any] | None] = None
    # the timestamps option, in jiffies of the host that set the clock; -1 if none. Of a
    # datagram `tsval` is when it was sent, in ps, `tsecr` when that was sent which it
    # answers, and `ack` the number of its flow.
    tsval: Public[cython.longlong] = 0
    tsecr: Public[cython.longlong] = 0
    # payload of one segment where a NIC's driver has merged several
    segment_bytes: Public[cython.int] = 0
    # number of the packet between two hosts, 16 bits, where packets are numbered
    msg_id: Public[cython.int] = 0
    held_jiffy: Public[cython.longlong] = 0  # when receive offload began to hold it
    ecn: Public[cython.int] = 0  # `ECT` to `CWR`


def new_skb(
    endpoint: Endpoint,
    seq: cython.longlong,
    end_seq: cython.longlong,
    ack: cython.longlong,
    window: cython.longlong,
    wire_bytes: cython.int,
    push: cython.bint,
) -> Skb:
    """Make a frame."""
    skb: Skb = Skb.__new__(Skb)
    skb.endpoint = endpoint
    skb.seq = seq
    skb.end_seq = end_seq
    skb.ack = ack
    skb.window = window
    skb.wire_bytes = wire_bytes
    skb.push = push
    skb.tsval = NONE
    skb.tsecr = NONE
    if not cython.compiled:
        # compiled, a fresh object has 0 and None everywhere
        skb.sack = None
        skb.arrival_ps = 0
        skb.segment_bytes = 0
        skb.msg_id = 0
        skb.held_jiffy = 0
        skb.ecn = 0
        skb.home_node = 0
        skb.writer_node = 0
        skb.toucher = None
        skb.owner = None
        skb.header = None
        skb.next = None
    return skb


def copy_skb(skb: Skb) -> Skb:
    """Make another frame with the same contents (`skb_clone`)."""
    copy: Skb = new_skb(
        skb.endpoint, skb.seq, skb.end_seq, skb.ack, skb.window, skb.wire_bytes, skb.push
    )
    copy.sack = skb.sack
    copy.tsval = skb.tsval
    copy.tsecr = skb.tsecr
    copy.header = skb.header
    copy.ecn = skb.ecn
    return copy


@cython.final
@cython.cclass
class SkbQueue:
    """First in, first out. A frame is in one queue at a time; outside, its `next` is None."""

    head: Skb = None
    tail: Skb = None
    count: cython.int = 0

    def append(self, skb: Skb) -> cython.int:
        """Add at the tail."""
        if self.tail is None:
            self.head = skb
        else:
            self.tail.next = skb
        self.tail = skb
        self.count += 1
        return 0

    def pop(self) -> Skb:
        """Take the head (the queue is not empty)."""
        skb: Skb = self.head
        self.head = skb.next
        if self.head is None:
            self.tail = None
        skb.next = None
        self.count -= 1
        return skb


@cython.final
@cython.cclass
class Serializer:
    """The sending end of a link: frames leave one after the other, in the order posted.

    Args:
        rate_bps: of the link.
    """

    byte_ps: cython.longlong = 0
    free_ps: cython.longlong = 0

    def __init__(self, rate_bps: int) -> None:
        self.byte_ps = 8 * 10**12 // rate_bps

    def end_ps(self, now: cython.longlong, wire_bytes: cython.longlong) -> cython.longlong:
        """Post a frame; return when its last bit leaves."""
        if now > self.free_ps:
            self.free_ps = now
        self.free_ps += wire_bytes * self.byte_ps
        return self.free_ps


@cython.cclass
class Port(Napi):
    """A network device (Linux `net_device`): frames arrive at it and leave by it.

    Args:
        weight: packets of one poll.
        node: NUMA node that it is attached to.
    """

    node: cython.int = 0
    domain: Public[DmaDomain] = None  # of the device, where the IOMMU translates its addresses
    # frames leave by a CPU's copying them, not by DMA; see `length_cost_ps`
    copies: Public[cython.bint] = False
    dma_ps: Public[cython.longlong] = 0  # from the last bit of a frame to its descriptor in memory
    incoming: Public[SkbQueue] = None

    def __init__(self, sim: Simulator, path: str, weight: cython.int, node: cython.int = 0) -> None:
        super().__init__(sim, path, weight)
        self.node = node
        self.incoming = SkbQueue()

    def frames_added(self) -> cython.int:
        """Frames have been added to `incoming`."""
        raise NotImplementedError(self.path)

    def frames_lost(self) -> cython.int:
        """Frames that were announced have been taken out of `incoming`: they will not come."""
        raise NotImplementedError(self.path)

    def drop_in_flight(self, now: cython.longlong) -> cython.longlong:
        """The cable is pulled: lose what has not arrived by `now`; return how many frames."""
        queue: SkbQueue = self.incoming
        kept = SkbQueue()
        skb: Skb
        lost: cython.longlong = 0
        while queue.count > 0:
            skb = queue.pop()
            if skb.arrival_ps > now:
                lost += 1
            else:
                kept.append(skb)
        self.incoming = kept
        self.frames_lost()
        return lost

    def transmit(self, skb: Skb) -> cython.int:
        """Queue a frame; call `flush` after the last of a burst."""
        raise NotImplementedError(self.path)

    def flush(self) -> cython.int:
        """End of a burst."""
        raise NotImplementedError(self.path)

    def transmit_cost_ps(self, cpu: Cpu) -> cython.longlong:
        """What handing over the next frame costs from `cpu`, the stack's work excluded."""
        raise NotImplementedError(self.path)

    def length_cost_ps(self, cpu: Cpu, wire_bytes: cython.longlong) -> cython.longlong:
        """What a frame's length costs `cpu`, on top; of a port that `copies`."""
        raise NotImplementedError(self.path)


@cython.cclass
class Path(Component):
    """Where a device's frames go.

    `destination` is the port at the other end, None if each frame's header says it.
    """

    destination: Port = None

    def send(self, skb: Skb, tx_end_ps: cython.longlong) -> cython.int:
        """Take a frame whose last bit leaves the source at `tx_end_ps`."""
        raise NotImplementedError(self.path)

    def flush(self) -> cython.int:
        """The frames sent since the last flush are a burst."""
        raise NotImplementedError(self.path)


@cython.cclass
class WayQueue(Component):
    """Where frames wait for the bottleneck of a way."""

    def take(self, skb: Skb, when: cython.longlong) -> cython.int:
        """A frame comes then."""
        raise NotImplementedError(self.path)


@cython.final
@cython.cclass
class SwitchedPath(Path):
    """One direction from a NIC through the switch to another NIC.

    Args:
        destination: the receiving port.
        rate_bps: rate of both links.
        propagation_ps: of each link.
        latency_ps: of the switch, from last bit in to first bit out when idle.
        per_frame: one event a frame (reference) instead of arithmetic.
    """

    netem: Public[Netem] = None  # what lies between the switch and the destination, if not None
    # before the bottleneck behind that, where it is managed; else None
    queue: Public[WayQueue] = None
    per_frame: cython.bint = False
    flight: SkbQueue = None
    overtaking: list[Any] = None
    byte_ps: cython.longlong = 0
    propagation_ps: cython.longlong = 0
    latency_ps: cython.longlong = 0
    arrival_ps: cython.longlong = 0
    egress_free_ps: cython.longlong = 0
    frames: cython.longlong = 0
    bytes: cython.longlong = 0

    def __init__(
        self,
        sim: Simulator,
        path: str,
        destination: Port,
        rate_bps: int,
        propagation_ps: int,
        latency_ps: int,
        per_frame: bool,  # noqa: FBT001 - positional for speed of construction is not needed
    ) -> None:
        super().__init__(sim, path)
        self.destination = destination
        self.per_frame = per_frame
        self.flight = SkbQueue()
        self.overtaking = []
        self.byte_ps = 8 * 10**12 // rate_bps
        self.propagation_ps = propagation_ps
        self.latency_ps = latency_ps
        self.arrival_ps = propagation_ps + destination.dma_ps

    def send(self, skb: Skb, tx_end_ps: cython.longlong) -> cython.int:
        """Take a frame whose last bit leaves the source at `tx_end_ps`."""
        start: cython.longlong = tx_end_ps + self.propagation_ps + self.latency_ps
        if start < self.egress_free_ps:
            start = self.egress_free_ps
        self.egress_free_ps = start + skb.wire_bytes * self.byte_ps
        start = self.egress_free_ps
        if self.netem is not None:
            start = self.netem.leaves_ps(start, skb.wire_bytes)
            if self.netem.copy_ps != LOST:
                self._carry(copy_skb(skb), self.netem.copy_ps)
            if start == LOST:
                return 0
        return self._carry(skb, start)

    def _carry(self, skb: Skb, start: cython.longlong) -> cython.int:
        """A frame leaves what delays it at `start`."""
        if self.queue is not None:
            return self.queue.take(skb, start)
        self._counted(skb, start)
        if self.netem is not None and not self.netem.orders:
            heappush(self.overtaking, (skb.arrival_ps, self.frames, skb))
            self.sim.at(skb.arrival_ps, self, 0, 0, 0)
        elif self.per_frame:
            self.flight.append(skb)
            self.sim.at(skb.arrival_ps, self, 0, 0, 0)
        else:
            self.destination.incoming.append(skb)
        return 0

    def leaves(self, skb: Skb, when: cython.longlong) -> cython.int:
        """A frame leaves the queue before the bottleneck then, behind all before it."""
        self._counted(skb, when)
        if self.per_frame:
            self.flight.append(skb)
            self.sim.at(skb.arrival_ps, self, 0, 0, 0)
        else:
            self.destination.incoming.append(skb)
            self.destination.frames_added()
        return 0

    def _counted(self, skb: Skb, start: cython.longlong) -> cython.int:
        """A frame is on its last cable from `start` on."""
        skb.arrival_ps = start + self.arrival_ps
        self.frames += 1
        self.bytes += skb.wire_bytes
        return 0

    def flush(self) -> cython.int:
        """Announce the frames sent since the last flush to the destination."""
        if not self.per_frame and self.destination.incoming.count > 0:
            self.destination.frames_added()
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A frame has arrived (per-frame mode, or one may have overtaken others)."""
        if self.flight.count > 0:
            self.destination.incoming.append(self.flight.pop())
        else:
            self.destination.incoming.append(heappop(self.overtaking)[2])
        self.destination.frames_added()
