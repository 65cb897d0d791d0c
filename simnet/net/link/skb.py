"""Frames (Linux `sk_buff`), their headers and queues, and the endpoint that receives them."""

from __future__ import annotations

from typing import Any

import cython

from simnet.host.cpu import Cpu
from simnet.kernel.compiled import Public
from simnet.kernel.component import Component
from simnet.kernel.sentinel import NONE
from simnet.kernel.simulator import Simulator

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
    """An Ethernet address, and the outlet behind which the switch has learnt that it is.

    Args:
        mac: 48 bits.
    """

    mac: cython.longlong = 0
    outlet: Public[EgressPort] = None

    def __init__(self, mac: int) -> None:
        self.mac = mac


@cython.final
@cython.cclass
class Header:
    """What switches and bonds look at: addresses and TCP ports, the same for a connection.

    Args:
        source, destination: Ethernet addresses.
        source_ip, destination_ip: 32 bits.
        source_port, destination_port: of TCP or UDP.

    Attributes:
        rss_hash: the receiving NIC's hash of the connection, 32 bits; -1 until it is computed.
        rxhash: the receiving host's, by which it steers packets; -1 until it is computed.
    """

    source: Public[Station] = None
    destination: Public[Station] = None
    source_ip: cython.longlong = 0
    destination_ip: cython.longlong = 0
    source_port: cython.int = 0
    destination_port: cython.int = 0
    rss_hash: Public[cython.longlong] = 0
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
    """One frame on its way.

    Attributes:
        seq, end_seq: TCP sequence numbers of the payload (first, last plus one).
        ack, window: acknowledgement number and offered window, bytes.
        arrival_ps: when its last bit is in the receiving NIC.
        wire_bytes: length on the wire with preamble, FCS and gap.
        sack: the SACK option: (first byte, last plus one) of up to four blocks, D-SACK first; None
            if there is none.
        tsval, tsecr: the timestamps option, in jiffies of the host that set the clock; -1 if none.
            Of a datagram `tsval` is when it was sent, in ps, `tsecr` when that was sent which it
            answers, and `ack` the number of its flow.
        push: TCP PSH flag.
        segment_bytes: payload of one segment where a NIC's driver has merged several.
        msg_id: number of the packet between two hosts, 16 bits, where packets are numbered.
        held_jiffy: when receive offload began to hold it.
        ecn: `ECT` to `CWR`.
        home_node, writer_node: node of the buffer's memory, and of the device that wrote it.
        toucher: the CPU that wrote the `sk_buff` last.
        endpoint: receiver.
        owner: the sender, if it is to know when the frame is freed.
        header: addresses; None where the path alone says where the frame goes.
    """

    next: Public[Skb] = None
    endpoint: Public[Endpoint] = None
    arrival_ps: Public[cython.longlong] = 0
    seq: Public[cython.longlong] = 0
    end_seq: Public[cython.longlong] = 0
    wire_bytes: Public[cython.int] = 0
    push: Public[cython.bint] = False
    ack: Public[cython.longlong] = 0
    window: Public[cython.longlong] = 0
    toucher: Public[Cpu] = None
    owner: Public[Endpoint] = None
    header: Public[Header] = None
    home_node: Public[cython.int] = 0
    writer_node: Public[cython.int] = 0
    sack: Public[list[Any] | None] = None
    tsval: Public[cython.longlong] = 0
    tsecr: Public[cython.longlong] = 0
    segment_bytes: Public[cython.int] = 0
    msg_id: Public[cython.int] = 0
    held_jiffy: Public[cython.longlong] = 0
    ecn: Public[cython.int] = 0


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
