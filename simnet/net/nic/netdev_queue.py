"""A transmit queue of a device (`struct netdev_queue`): qdisc, byte queue limits, ring.

Source: net/sched/sch_generic.c (`__qdisc_run`, `sch_direct_xmit`, `dev_requeue_skb`) and
include/linux/netdevice.h (`netdev_tx_sent_queue`, `netdev_tx_completed_queue`) of Linux 5.4 to
6.12. Each queue of a device has a discipline of its own (mq). The segments of a large one are one
packet here. What a dequeue costs is not told apart from the driver's work.
"""

# mypy: no-strict-optional
from __future__ import annotations

from array import array

import cython

from simnet.kernel.compiled import Array
from simnet.kernel.component import Component
from simnet.kernel.priority import NIC
from simnet.kernel.sentinel import NEVER
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Skb
from simnet.net.nic.port import Nic
from simnet.net.nic.transmit_ring import TransmitRing
from simnet.net.qdisc.dynamic_queue_limits import DynamicQueueLimits
from simnet.net.qdisc.egress import Egress
from simnet.net.qdisc.qdisc import Packet, Qdisc

_GSO_BYTES: cython.longlong = 65536


@cython.final
@cython.cclass
class Watchdog(Component):
    """`qdisc_watchdog`: the timer of a discipline whose packets wait for their time.

    Its interrupt costs nothing here.
    """

    queue: Egress = None
    timer: cython.longlong = 0
    due_ps: cython.longlong = 0

    def __init__(self, sim: Simulator, path: str, queue: Egress) -> None:
        super().__init__(sim, path)
        self.queue = queue
        self.due_ps = NEVER

    @cython.cfunc
    def wake_at(self, when: cython.longlong) -> cython.int:
        """Run the queue then, or before."""
        if when < self.due_ps:
            if self.timer != 0:
                self.sim.cancel(self.timer)
            self.due_ps = when
            self.timer = self.sim.at(when, self, 0, 0, NIC)
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The time has come."""
        self.timer = 0
        self.due_ps = NEVER
        self.queue.wake()


@cython.final
@cython.cclass
class NetdevQueue(Egress):
    """The queue above one ring, whose `egress` it becomes."""

    nic: Nic = None  # the port, or one queue of it
    qdisc: Qdisc = None  # its queueing discipline
    dql: DynamicQueueLimits = None  # byte queue limits; None where the ring alone limits
    jiffy_ps: cython.longlong = 0  # of the kernel
    gso: cython.bint = False  # large segments come whole; else each segment is a packet
    opened: Packet = None
    requeued: Skb = None
    watchdog: Watchdog = None
    ends: Array[cython.longlong] = None
    overhead_bytes: cython.longlong = 0

    def __init__(
        self,
        nic: Nic,
        qdisc: Qdisc,
        dql: DynamicQueueLimits | None,
        *,
        jiffy_ps: int,
        gso: bool,
    ) -> None:
        self.nic = nic
        self.qdisc = qdisc
        self.dql = dql
        self.jiffy_ps = jiffy_ps
        self.gso = gso
        self.watchdog = Watchdog(nic.sim, f"{nic.path}.qdisc", self)
        # what had been queued, in bytes, with each descriptor's frame
        self.ends = array("q", [0]) * (nic.tx.mask + 1)
        self.overhead_bytes = nic.uncounted_bytes
        nic.tx.charges = False
        nic.egress = self

    def waiting(self) -> cython.longlong:
        """Frames that are not in the ring yet."""
        count: cython.longlong = self.qdisc.segments
        skb: Skb = self.requeued
        if self.opened is not None:
            count += self.opened.segments
        while skb is not None:
            count += 1
            skb = skb.next
        return count

    def enqueue(self, skb: Skb) -> cython.int:
        """Take a frame, a part of the packet before or the first of one.

        From here on its memory is the socket's until the ring has freed it.
        """
        counted: cython.longlong = skb.wire_bytes - self.overhead_bytes
        if skb.owner is not None:
            skb.owner.queued(skb.end_seq - skb.seq)
        if self.opened is not None and self._joins(skb, counted):
            return self.opened.add(skb, counted)
        self._close()
        self.opened = Packet(skb, counted)
        return 0

    def _joins(self, skb: Skb, counted: cython.longlong) -> cython.bint:
        """Whether a segment belongs to the large one before it."""
        tail: Skb = self.opened.tail
        return (
            self.gso
            and skb.end_seq > skb.seq
            and tail.end_seq > tail.seq
            and skb.endpoint is tail.endpoint
            and skb.arrival_ps == tail.arrival_ps
            and skb.seq == tail.end_seq
            and self.opened.bytes + counted <= _GSO_BYTES
        )

    def _close(self) -> cython.int:
        """The packet is complete: the discipline gets it, and the ring what is next."""
        packet: Packet = self.opened
        if packet is not None:
            self.opened = None
            self.qdisc.enqueue(packet, self.nic.sim.now)
            self._free_dropped()
            self._run()
        return 0

    def run(self) -> cython.int:
        """End of a burst."""
        return self._close()

    def completed(self) -> cython.int:
        """`netdev_tx_completed_queue`, for all that one poll has freed; then the ring gets more."""
        ring: TransmitRing = self.nic.tx
        freed: cython.longlong
        if self.dql is not None and ring.reclaimed > 0:
            freed = self.ends[(ring.reclaimed - 1) & ring.mask] - self.dql.num_completed
            if freed > 0:
                self.dql.completed(freed, self.nic.sim.now // self.jiffy_ps)
        return self.wake()

    def wake(self) -> cython.int:
        """`qdisc_watchdog`, or the ring has room again: fill it."""
        if self._run() > 0:
            self.nic.flush()
        return 0

    def _run(self) -> cython.longlong:
        """`__qdisc_run`: fill the ring until it stops; return how many frames went."""
        sent: cython.longlong = self.nic.tx.sent
        packet: Packet
        while self.dql is None or self.dql.avail() >= 0:
            if self.requeued is None:
                packet = self.qdisc.dequeue(self.nic.sim.now)
                self._free_dropped()
                if packet is None:
                    self.watchdog.wake_at(self.qdisc.next_ps())
                    break
                self.requeued = packet.head
                self.nic._packet_begins()  # noqa: SLF001 - the queue is the ring's own
            if not self._send():
                break
        return self.nic.tx.sent - sent

    def _send(self) -> cython.bint:
        """Give the ring the packet at hand; False if the rest of it has no descriptors."""
        skb: Skb
        length: cython.longlong = 0
        total: cython.longlong = 0
        if self.dql is not None:
            total = self.dql.num_queued
        ring: TransmitRing = self.nic.tx
        while self.requeued is not None and ring.sent - ring.reclaimed < ring.size:
            skb = self.requeued
            self.requeued = skb.next
            skb.next = None
            length += skb.wire_bytes - self.overhead_bytes
            self.ends[ring.sent & ring.mask] = total + length
            self.nic._send_now(skb)  # noqa: SLF001 - the queue is the ring's own
        if self.dql is not None and length > 0:
            self.dql.queued(length)
        return self.requeued is None

    def _free_dropped(self) -> cython.int:
        """`kfree_skb` of what the discipline has given up."""
        packet: Packet = self.qdisc.dropped.pop()
        skb: Skb
        while packet is not None:
            skb = packet.head
            self.nic.qdisc_drops += packet.segments
            while skb is not None:
                if skb.owner is not None and skb.end_seq > skb.seq:
                    skb.owner.wfree(skb.end_seq - skb.seq, skb.toucher)
                skb = skb.next
            packet = self.qdisc.dropped.pop()
        return 0
