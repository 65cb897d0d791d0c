"""A pair of virtqueues of a virtio network device, and its driver in the guest.

Source: drivers/net/virtio_net.c of Linux 5.4 to 6.12 (`start_xmit`, `virtnet_poll`,
`virtnet_poll_cleantx`, `virtnet_receive`, `get_mergeable_buf_len`), drivers/virtio/virtio_ring.c
(split ring, `virtqueue_kick_prepare`, `virtqueue_enable_cb_delayed`); Virtual I/O Device (VIRTIO)
1.2, 2.7.7 and 2.7.10 (VIRTIO_F_EVENT_IDX) and 5.1.

The host shares features of segmentation with the guest: a large segment crosses as one frame of up
to 64 KiB, and nobody cuts it. A frame to be sent takes one entry of the ring, an indirect one. A
received one takes as many mergeable buffers as it needs, each of the mean length of packets, at
most a page.

Either side says by an event index when it wants to be notified. To send, the driver frees what was
sent, asks to be interrupted after three quarters of what is on its way, adds the frame, and kicks
if the host wants it: an exit. Received frames interrupt once, until the poll has found none. The
poll posts buffers again when more than half a budget of them, or of the ring, is missing, and kicks
if the host waits for them.

The queues of a pair have an interrupt and a NAPI instance each, whose polls free what the other's
queue has sent, too. Here they share both.
"""

# mypy: no-strict-optional

from array import array

import cython

from simnet.host.cpu import Cpu
from simnet.kernel.compiled import Array
from simnet.kernel.priority import NIC
from simnet.kernel.sentinel import NEVER
from simnet.net.link.gro import Gro
from simnet.net.link.skb import Skb, SkbQueue
from simnet.net.nic.channel import Channel
from simnet.net.nic.net_device import NetDevice
from simnet.net.nic.port import Nic
from simnet.net.virtio.backend import RX, TX, Backend

# GSO_MAX_SIZE
_MAX_GSO_BYTES: cython.longlong = 65536
# GOOD_PACKET_LEN; a page; struct virtio_net_hdr_mrg_rxbuf; preamble, FCS and gap, of no frame here
_GOOD_BYTES: cython.longlong = 1518
_PAGE_BYTES: cython.longlong = 4096
_HEADER_BYTES: cython.longlong = 12
_WIRE_BYTES: cython.longlong = 24
# RECEIVE_AVG_WEIGHT
_WEIGHT: cython.longlong = 64
_INJECTED: cython.int = 1
_LAST_BUDGET: cython.int = 1 << 30


@cython.final
@cython.cclass
class VirtioNet(Channel):
    """One pair of queues; see `Nic` for what it shares with others.

    Args:
        device: what chips and drivers have in common.
        gro: receive offload of its NAPI instance.
        tso: large segments are not cut.
        ring_size: entries of the receive queue.
    """

    backend: Backend = None
    avail: SkbQueue = None  # frames that the host has not taken yet
    building: Skb = None
    ring_size: cython.int = 0
    kick_ps: cython.longlong = 0
    irq_ps: cython.longlong = 0
    latency_ps: cython.longlong = 0
    charged: cython.bint = False
    owed_ps: cython.longlong = 0
    filled: Array[cython.longlong] = None
    claimed: cython.longlong = 0
    taken: cython.longlong = 0
    freed: cython.longlong = 0
    average_bytes: cython.longlong = 0
    injecting: cython.bint = False
    kicks: cython.longlong = 0  # exits that notified the host

    needs = ("backend",)

    def __init__(self, device: NetDevice, gro: Gro, *, tso: bool, ring_size: int) -> None:
        super().__init__(
            device, gro, tso=tso, page_bytes=_PAGE_BYTES, tx_budget=_LAST_BUDGET, doorbells=0
        )
        self.avail = SkbQueue()
        self.ring_size = ring_size
        # buffers of the frames that the host has filled, by number
        self.filled = array("q", [0]) * (ring_size + 1)
        # a number of entries alone ends a wait, no time
        self.rx_cq.moderate(NEVER, 1, True)
        self.tx_cq.moderate(NEVER, 1, True)

    def attach(
        self,
        backend: Backend,
        kick_ps: cython.longlong,
        irq_ps: cython.longlong,
        latency_ps: cython.longlong,
    ) -> cython.int:
        """Connect it to what serves it.

        Args:
            backend: that thread.
            kick_ps: of an exit that notifies it.
            irq_ps: of the exits that an interrupt takes.
            latency_ps: from its signal to the interrupt.
        """
        self.backend = backend
        self.kick_ps = kick_ps
        self.irq_ps = irq_ps
        self.latency_ps = latency_ps
        return 0

    # -- transmit -----------------------------------------------------------------------------

    def transmit_cost_ps(self, cpu: Cpu) -> cython.longlong:
        """`start_xmit`: free what was sent, add the frame, kick if that is wanted."""
        work: cython.longlong = self.tx.use_ps(cpu) + self.owed_ps
        count: cython.longlong = self.tx.announced - self.tx.reclaimed
        self.owed_ps = 0
        if count > 0:
            work += self.tx.reclaim(cpu, count)
            self._send_waiting()
        if self.backend.notify_tx and not self.charged:
            self.charged = True
            self.ledger.hypervisor += self.kick_ps
            work += self.kick_ps
        return work

    def transmit(self, skb: Skb) -> cython.int:
        """Add a segment to the large one before it, or begin the next frame."""
        whole: Skb = self.building
        length: cython.longlong = skb.end_seq - skb.seq
        if (
            whole is not None
            and self.tso
            and length > 0
            and skb.endpoint is whole.endpoint
            and skb.seq == whole.end_seq
            and length <= whole.segment_bytes
            and skb.end_seq - whole.seq <= _MAX_GSO_BYTES
        ):
            whole.end_seq = skb.end_seq
            whole.wire_bytes += length
            whole.push = whole.push or skb.push
            return 0
        self._close()
        if self.tso:
            skb.segment_bytes = length
        self.building = skb
        return 0

    def _close(self) -> cython.int:
        """What is built goes to the ring; one segment is no large one."""
        skb: Skb = self.building
        if skb is not None:
            self.building = None
            if skb.end_seq - skb.seq <= skb.segment_bytes:
                skb.segment_bytes = 0
            Nic.transmit(self, skb)
        return 0

    def _send_now(self, skb: Skb) -> cython.int:
        """Add a frame to the ring; `virtqueue_enable_cb_delayed` comes before that."""
        self._delay_tx()
        self.tx_cq.arm(self.sim.now, self.tx.announced - self.tx.reclaimed)
        self.tx.hold(skb, NEVER, skb.wire_bytes)
        if self.capture is not None:
            self.capture.frame(skb, self.sim.now, True)
        self.avail.append(skb)
        return 0

    def _delay_tx(self) -> cython.int:
        """The next interrupt is after three quarters of what the host has not sent yet."""
        pending: cython.longlong = self.tx.sent - self.tx.reclaimed
        return self.tx_cq.moderate(NEVER, pending * 3 // 4 + 1, True)

    def flush(self) -> cython.int:
        """End of a burst: kick, if the host wants it."""
        self._close()
        return self._publish()

    def _publish(self) -> cython.int:
        """`virtqueue_kick`; what it costs was charged, or is at the next opportunity."""
        if self.avail.count > 0 and self.backend.notify_tx:
            self.kicks += 1
            if not self.charged:
                self.ledger.hypervisor += self.kick_ps
                self.owed_ps += self.kick_ps
            self.backend.notify_tx = False
            self.backend.kicked(TX)
        elif self.avail.count > 0:
            self.backend.published()
        self.charged = False
        return 0

    def _send_waiting(self) -> cython.int:
        """Send what has waited for entries of the ring, as far as there are some."""
        if self.qdisc.count > 0:
            while self.qdisc.count > 0 and self.tx.sent - self.tx.reclaimed < self.tx.size:
                self._send_now(self.qdisc.pop())
            self._publish()
        return 0

    # -- what the host does -------------------------------------------------------------------

    def claim(self, skb: Skb) -> cython.int:
        """Take as many mergeable buffers as a frame needs; return how many, 0 if too few are there.

        Each is as long as packets are in the mean (`get_mergeable_buf_len`).
        """
        each: cython.longlong = max(_GOOD_BYTES, self.average_bytes)
        length: cython.longlong = skb.wire_bytes - _WIRE_BYTES + _HEADER_BYTES
        count: cython.int
        each = min(each + _HEADER_BYTES, _PAGE_BYTES)
        count = (length + each - 1) // each
        if count > self.posted:
            return 0
        self.posted -= count
        self.filled[self.claimed % (self.ring_size + 1)] = count
        self.claimed += 1
        return count

    def wants_rx(self) -> cython.bint:
        """Whether frames that are used now will interrupt."""
        return self.rx_cq.armed

    def wants_tx(self, count: cython.longlong) -> cython.bint:
        """Whether so many sent frames that are used now will interrupt."""
        return self.tx_cq.armed and self.tx_cq.count + count >= self.tx_cq.frames

    def take_used(self, frames: SkbQueue) -> cython.int:
        """Received frames are in the used ring."""
        skb: Skb
        while frames.count > 0:
            skb = frames.pop()
            skb.arrival_ps = self.sim.now
            self.incoming.append(skb)
        return self.advance(self.sim.now)

    def take_sent(self, count: cython.longlong) -> cython.int:
        """The next `count` sent frames are in the used ring."""
        number: cython.longlong = self.tx.seen
        while count > 0:
            count -= 1
            self.tx.ends[number & self.tx.mask] = self.sim.now
            number += 1
        return self.advance(self.sim.now)

    def _landed(self, skb: Skb, counted_bytes: cython.longlong) -> cython.bint:
        """Count a frame; its buffers the host has taken."""
        if self.capture is not None:
            self.capture.frame(skb, skb.arrival_ps, False)
        self.rx_packets += 1
        self.rx_bytes += counted_bytes
        self.arrived += 1
        self.ring.append(skb)
        return True

    def next_update(self) -> cython.longlong:
        """Nothing happens before the host does it."""
        return NEVER

    def frames_added(self) -> cython.int:
        """Frames come by `take_used` alone."""
        return 0

    def _notify(self) -> cython.int:
        """Signal the guest (irqfd)."""
        if not (self.asserted or self.injecting):
            self.injecting = True
            self.sim.after(self.latency_ps, self, _INJECTED, 0, NIC)
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The interrupt is there."""
        cpu: Cpu
        self.injecting = False
        self.instance.interrupts += 1
        cpu = self._asserted_to()
        self.ledger.hardirq += self.costs.hardirq_ps
        self.ledger.hypervisor += self.irq_ps
        cpu.raise_irq(self, self.costs.hardirq_ps + self.irq_ps)

    # -- the poll -----------------------------------------------------------------------------

    def _taken(self, cpu: Cpu) -> Skb:
        """`receive_mergeable`: take a frame and its buffers; the mean length follows."""
        skb: Skb = self.ring.head
        length: cython.longlong = skb.wire_bytes - _WIRE_BYTES
        self.freed += self.filled[self.taken % (self.ring_size + 1)]
        self.taken += 1
        self.average_bytes = (self.average_bytes * (_WEIGHT - 1) + length) // _WEIGHT
        return Channel._taken(self, cpu)  # noqa: SLF001 - the method that it extends

    def _hand_back(self, cpu: Cpu) -> cython.int:
        """`try_fill_recv`, if enough buffers are missing."""
        count: cython.int = self.done - self.returned
        self.returned = self.done
        if self.freed > min(self.limit, self.ring_size) // 2:
            self.posted += self.freed
            self.freed = 0
            if self.backend.notify_rx:
                self.kicks += 1
                self.ledger.hypervisor += self.kick_ps
                self.owed_ps += self.kick_ps
                self.backend.notify_rx = False
                self.backend.kicked(RX)
        return count

    def _poll_completed(self, now: cython.longlong) -> cython.int:
        """`virtnet_poll_cleantx` delays interrupts of sent frames."""
        return self._delay_tx()
