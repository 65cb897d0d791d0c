"""IP over InfiniBand: a queue pair and its completion queue, and the driver `ib_ipoib`.

Source: drivers/infiniband/ulp/ipoib (ipoib_ib.c `ipoib_poll`, `ipoib_send`, `poll_tx`; ipoib_cm.c
`ipoib_cm_send`, `ipoib_cm_handle_rx_wc`, `ipoib_cm_handle_tx_wc`) of Linux 3.8; RFC 4391 and 4755
(4-byte encapsulation). A connected interface sends over a reliable connection (RC), whose sends
complete when the far adapter has acknowledged them; its send completions go to the receive
completion queue, interrupt like received packets, and do not count for the poll's weight. A
datagram interface reclaims what it has sent when more than 16 sends are outstanding, without an
interrupt.

A completion queue announces one completion, and then none until it is armed again
(`ib_req_notify_cq`), which the poll does when it has found the queue empty. A receive without a
posted buffer is dropped; a reliable connection would break (rnr_retry 0) and be set up anew.
"""

import cython

from simnet.host.accounting import SOFT_LEVEL, SOFTIRQ
from simnet.host.cpu import Cpu, Occupation
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.host.softirq.verdict import POLL_CONTINUES, POLL_DONE, POLL_MORE
from simnet.kernel.compiled import Public
from simnet.kernel.priority import NIC
from simnet.kernel.random import RandomStream
from simnet.kernel.sentinel import NEVER
from simnet.net.infiniband.reorder_window import MessageNumbers, ReorderWindow
from simnet.net.link.skb import Endpoint, Skb
from simnet.net.nic.net_device import NetDevice
from simnet.net.nic.port import Nic

# RFC 4391: 16-bit type and 16 reserved bits
ENCAPSULATION_BYTES = 4
# the reorder window's event: its timer has handed packets up
FLUSHED = 2

_INTERRUPT: cython.int = 0
_DRAIN: cython.int = 1
_FLUSHED: cython.int = 2
# local route, base transport, invariant and variant CRC of an InfiniBand packet; a datagram has the
# datagram extended transport header, too
_RC_OVERHEAD_BYTES: cython.int = 26
_UD_OVERHEAD_BYTES: cython.int = 34
# IPOIB_NUM_WC, MAX_SEND_CQE, IPOIB_CM_COPYBREAK
_COMPLETIONS_AT_A_TIME: cython.int = 4
_MAX_SEND_CQE: cython.int = 16
_COPYBREAK_BYTES: cython.int = 256
_MILLION: cython.longlong = 1_000_000


@cython.final
@cython.cclass
class Ipoib(Nic):
    """One IPoIB interface; see `Nic` for the arguments that it shares with others.

    Args:
        connected: connected mode (RC); False is datagram mode (UD).
        ib_mtu: payload of an InfiniBand packet; a message of a connection is cut into such.
        rx_usecs_ps, rx_frames: `ethtool -C` of the completion queue: after the first completion,
            how long, and for how many, the interrupt waits; 0 and 0 for not at all.
        acknowledged_ps: from the last bit sent to the completion of a send of a connection.
        page_bytes: size of the pages that a received packet of a connection is put into.
        jiffy_ps: length of a jiffy.
        loss_ppm: of a million packets, how many the driver drops on purpose instead of sending.
        luck: which ones.
    """

    connected: cython.bint = False
    ib_mtu: cython.int = 0
    rx_usecs_ps: cython.longlong = 0
    rx_frames: cython.int = 0
    page_bytes: cython.int = 0
    jiffy_ps: cython.longlong = 0
    loss_ppm: cython.longlong = 0
    luck: RandomStream = None
    lost: cython.longlong = 0  # packets that the driver dropped on purpose
    stopped: cython.bint = False
    drain_timer: cython.longlong = 0
    completions: cython.int = 0
    deadline_ps: cython.longlong = 0
    pending: cython.int = 0
    leaving: cython.bint = False
    # number what is sent to the peer, and put what comes from it in order, if the window is
    # wider than 0; None where the driver is the kernel's own
    numbers: Public[MessageNumbers] = None
    window: Public[ReorderWindow] = None
    drain: Occupation = None
    rearms: cython.longlong = 0
    missed_events: cython.longlong = 0

    def __init__(
        self,
        device: NetDevice,
        *,
        connected: bool,
        ib_mtu: int,
        rx_usecs_ps: int,
        rx_frames: int,
        acknowledged_ps: int,
        page_bytes: int,
        jiffy_ps: int,
        loss_ppm: int,
        luck: RandomStream,
    ) -> None:
        super().__init__(device)
        self.connected = connected
        self.ib_mtu = ib_mtu
        self.rx_usecs_ps = rx_usecs_ps
        self.rx_frames = rx_frames
        self.tx.report_ps = acknowledged_ps if connected else 0
        self.page_bytes = page_bytes
        self.jiffy_ps = jiffy_ps
        self.loss_ppm = loss_ppm
        self.luck = luck
        self.deadline_ps = NEVER
        self.drain = Occupation(device.sim, f"{device.path}.drain")

    @property
    def uncounted_bytes(self) -> int:
        """The driver counts what `tx_bytes` and `rx_bytes` hold: packet and encapsulation."""
        return 0

    def out_of_order(self) -> tuple[int, ...]:
        """Packets that the reorder window got, and handed up, behind one with a higher number."""
        if self.window is None or self.window.window == 0:
            return ()
        return self.window.out_of_order_before, self.window.out_of_order_after

    # -- the completion queue ---------------------------------------------------------------

    def advance(self, now: cython.longlong) -> cython.int:
        """Take in what has completed until `now`; announce it if the queue is armed."""
        skb: Skb = self.incoming.head
        rx_at: cython.longlong = skb.arrival_ps if skb is not None else NEVER
        tx_at: cython.longlong = self._next_sent_ps()
        while rx_at <= now or tx_at <= now:
            if rx_at <= tx_at:
                self._receive(self.incoming.pop())
                skb = self.incoming.head
                rx_at = skb.arrival_ps if skb is not None else NEVER
            else:
                self.tx.seen += 1
                if self.connected:
                    self._completed(tx_at)
                tx_at = self._next_sent_ps()
        self.announced = self.arrived
        self.tx.announced = self.tx.seen
        if self.deadline_ps <= now and self.unmasked and not self.asserted:
            self.raise_line()
        return 0

    def _next_sent_ps(self) -> cython.longlong:
        """When the next send completes; NEVER if none is outstanding."""
        when: cython.longlong = NEVER
        if self.tx.seen < self.tx.sent:
            when = self.tx.ends[self.tx.seen & self.tx.mask]
        return when

    def _receive(self, skb: Skb) -> cython.int:
        if self._landed(skb, self._ip_bytes(skb.wire_bytes)):
            self._completed(skb.arrival_ps)
        return 0

    def _completed(self, at: cython.longlong) -> cython.int:
        """An entry of the receive completion queue."""
        if not self.unmasked or self.asserted:
            return 0
        self.completions += 1
        if self.completions == 1:
            self.deadline_ps = at + self.rx_usecs_ps
        elif self.completions == self.rx_frames and at < self.deadline_ps:
            self.deadline_ps = at
        return 0

    def next_update(self) -> cython.longlong:
        """When the completions that are known to come would be announced."""
        count: cython.int = self.completions
        deadline: cython.longlong = self.deadline_ps
        skb: Skb = self.incoming.head
        position: cython.longlong = self.tx.seen
        rx_at: cython.longlong
        tx_at: cython.longlong
        at: cython.longlong
        while True:
            rx_at = skb.arrival_ps if skb is not None else NEVER
            tx_at = NEVER
            if self.connected and position < self.tx.sent:
                tx_at = self.tx.ends[position & self.tx.mask]
            at = rx_at if rx_at <= tx_at else tx_at
            if at >= deadline:
                return deadline
            count += 1
            if count == 1:
                deadline = at + self.rx_usecs_ps
            elif count == self.rx_frames:
                return at
            if rx_at <= tx_at:
                skb = skb.next
            else:
                position += 1

    def has_work(self) -> cython.bint:
        """Whether the receive completion queue has entries."""
        return self.announced > self.consumed or (
            self.connected and self.tx.announced > self.tx.reclaimed
        )

    def acknowledge(self, now: cython.longlong) -> cython.int:
        """The event has been taken: the queue is silent until it is armed."""
        self.completions = 0
        self.deadline_ps = NEVER
        return 0

    def unmask(self, now: cython.longlong) -> cython.int:
        """`ib_req_notify_cq`: have the next completion announced."""
        self.rearms += 1
        self.unmasked = True
        self.completions = 0
        self.deadline_ps = NEVER
        self.arm()
        return 0

    # -- ipoib_poll -------------------------------------------------------------------------

    def poll_begin(
        self, cpu: Cpu, softirq: SoftirqNetRx, budget: cython.int, work_ps: cython.longlong
    ) -> cython.int:
        """Start polling: as many packets as the weight says, whatever is left of the round's."""
        self._read_status(cpu, work_ps)
        self.limit = self.weight
        self.done = 0
        self.pending = 0
        return self._next_completion(cpu, softirq)

    def poll_step(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Go on after a piece of work."""
        skb: Skb
        if self.leaving:
            self.leaving = False
            softirq.charge(self.done)
            return POLL_MORE
        if not self.finishing:
            # what has come until now found only the buffers posted before
            self.advance(self.sim.now)
            skb = self._taken(cpu)
            self.done += 1
            self.consumed += 1
            self.posted += 1
            self.buffer_node = cpu.node
            self.debt_ps += self._deliver(skb, cpu)
            return self._next_completion(cpu, softirq)
        self.advance(self.sim.now)
        self.unmask(self.sim.now)
        if self.has_work():
            # missed events: napi_reschedule and poll_more
            self.missed_events += 1
            return self._next_completion(cpu, softirq)
        softirq.charge(self.done)
        softirq.complete(self)
        return POLL_DONE

    def _next_completion(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Take completions, four at a time, up to a received packet, and start on that."""
        skb: Skb
        asked: cython.int
        work: cython.longlong
        while True:
            if self.pending == 0:
                if self.done == self.limit:
                    self.leaving = True
                    cpu.run(SOFT_LEVEL, softirq, self._taken_debt(), SOFTIRQ)
                    return POLL_CONTINUES
                self.advance(self.sim.now)
                if self.sim.tracer is not None:
                    self._trace_ring()
                asked = self.limit - self.done
                if asked > _COMPLETIONS_AT_A_TIME:
                    asked = _COMPLETIONS_AT_A_TIME
                self.pending = self._completed_count(asked)
                if self.pending == 0:
                    return self._finish(cpu, softirq)
            self.pending -= 1
            if self._sent_first():
                self._reclaim_one(cpu)
                continue
            skb = self.ring.head
            self.finishing = False
            work = self._taken_debt() + self._packet_ps(cpu, skb)
            cpu.run(SOFT_LEVEL, softirq, work, SOFTIRQ)
            return POLL_CONTINUES

    def _deliver(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """`netif_receive_skb`, or what the reorder window lets go; return the work caused."""
        if self.window is None:
            return skb.endpoint.receive(skb, cpu)
        self.window.arrive(skb)
        return self._deliver_ready(cpu)

    def _deliver_ready(self, cpu: Cpu) -> cython.longlong:
        skb: Skb
        work: cython.longlong = 0
        while self.window.ready.count > 0:
            skb = self.window.ready.pop()
            work += skb.endpoint.receive(skb, cpu)
        return work

    def _finish(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """`napi_complete` and the doorbell that arms the queue."""
        self.finishing = True
        self.ledger.softirq += self.access.near_mmio_ps
        self.ledger.device_lines += self.access.far_mmio_ps
        cpu.run(SOFT_LEVEL, softirq, self._taken_debt() + self.access.mmio_ps, SOFTIRQ)
        return POLL_CONTINUES

    def _taken_debt(self) -> cython.longlong:
        debt: cython.longlong = self.debt_ps
        self.debt_ps = 0
        return debt

    def _completed_count(self, asked: cython.int) -> cython.int:
        """`ib_poll_cq`: entries of the receive completion queue, at most as many as asked for."""
        count: cython.longlong = self.announced - self.consumed
        if self.connected:
            count += self.tx.announced - self.tx.reclaimed
        return asked if count > asked else cython.cast(cython.int, count)

    def _sent_first(self) -> cython.bint:
        """Whether the next entry of the queue is a send."""
        sent_ps: cython.longlong
        if not self.connected or self.tx.reclaimed == self.tx.announced:
            return False
        sent_ps = self.tx.ends[self.tx.reclaimed & self.tx.mask]
        return self.ring.head is None or sent_ps < self.ring.head.arrival_ps

    def _packet_ps(self, cpu: Cpu, skb: Skb) -> cython.longlong:
        """Work of the driver and IP on a received packet."""
        length: cython.int = self._ip_bytes(skb.wire_bytes)
        endpoint: Endpoint = skb.endpoint
        work: cython.longlong = self.near_frame_ps + self.access.far_frame_ps
        if self.connected and length > _COPYBREAK_BYTES:
            # the pages go up with the packet: others are posted in their place
            work += (length + self.page_bytes - 1) // self.page_bytes * self.costs.rx_page_ps
        work = self.spread.vary(work)
        self.ledger.driver += work - self.access.far_frame_ps
        self.ledger.device_lines += self.access.far_frame_ps
        if endpoint.freer is not None and endpoint.freer is not cpu:
            work += self.buffers.allocated_ps(cpu, endpoint.freer)
        return work

    # -- sending ----------------------------------------------------------------------------

    def _overhead_bytes(self, length: cython.int) -> cython.int:
        """Headers and checksums of the InfiniBand packets that carry `length` bytes."""
        if self.connected:
            return (length + self.ib_mtu - 1) // self.ib_mtu * _RC_OVERHEAD_BYTES
        return _UD_OVERHEAD_BYTES

    def _ip_bytes(self, wire_bytes: cython.int) -> cython.int:
        """What of a message on the wire is IP packet and encapsulation."""
        packets: cython.int
        if not self.connected:
            return wire_bytes - _UD_OVERHEAD_BYTES
        packets = self.ib_mtu + _RC_OVERHEAD_BYTES
        packets = (wire_bytes + packets - 1) // packets
        return wire_bytes - packets * _RC_OVERHEAD_BYTES

    def transmit_cost_ps(self, cpu: Cpu) -> cython.longlong:
        """What work request and doorbell of one packet cost, and sends reclaimed before it."""
        work: cython.longlong = Nic.transmit_cost_ps(self, cpu)
        if not self.connected and self.tx.sent - self.tx.reclaimed > _MAX_SEND_CQE:
            self.advance(self.sim.now)
            work += self._poll_tx(cpu)
        return work

    def transmit(self, skb: Skb) -> cython.int:
        """Queue a packet; call `flush` after the last of a burst."""
        if self.stopped or self.qdisc.count > 0:
            if self.qdisc.count >= self.qdisc_limit:
                self.qdisc_drops += 1
            else:
                self.qdisc.append(skb)
            return 0
        self._send_now(skb)
        return 0

    def _send_now(self, skb: Skb) -> cython.int:
        """`ipoib_cm_send`, `ipoib_send`: post one work request."""
        length: cython.int = skb.wire_bytes
        end_ps: cython.longlong
        if self.numbers is not None:
            self.numbers.number(skb)
        if self.loss_ppm > 0 and self.luck.below(_MILLION) < self.loss_ppm:
            self.lost += 1
            return 0
        skb.wire_bytes = length + self._overhead_bytes(length)
        end_ps = self.tx.post(skb, self.sim.now, length)
        if self.tx.sent - self.tx.reclaimed == self.tx.size:
            self.stopped = True
            if not self.connected:
                self._await_send()
        self.path_out.send(skb, end_ps)
        return 0

    def _await_send(self) -> cython.int:
        """The send queue is full: its next completion starts the timer that drains it.

        `ipoib_send_comp_handler`: `mod_timer(&priv->poll_timer, jiffies)`.
        """
        when: cython.longlong = self.tx.ends[self.tx.seen & self.tx.mask]
        if self.drain_timer == 0:
            if when < self.sim.now:
                when = self.sim.now
            when = (when // self.jiffy_ps + 1) * self.jiffy_ps
            self.drain_timer = self.sim.at(when, self, _DRAIN, 0, NIC)
        return 0

    def _poll_tx(self, cpu: Cpu) -> cython.longlong:
        """`poll_tx` until the send completion queue is empty; return the work."""
        before: cython.longlong = self.debt_ps
        work: cython.longlong
        self.debt_ps = 0
        while self.tx.reclaimed < self.tx.announced:
            self._reclaim_one(cpu)
        work = self.debt_ps
        self.debt_ps = before
        return work

    def _reclaim_one(self, cpu: Cpu) -> cython.int:
        """`ipoib_cm_handle_tx_wc`: free what was sent; restart the queue when half is free."""
        self.debt_ps += self.tx.reclaim(cpu, 1)
        if self.stopped and self.tx.sent - self.tx.reclaimed <= self.tx.size >> 1:
            self.stopped = False
            while self.qdisc.count > 0 and not self.stopped:
                self._send_now(self.qdisc.pop())
            self.path_out.flush()
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """Time for an interrupt, for the timer that drains the send queue, or the window's."""
        cpu: Cpu
        if kind == _INTERRUPT:
            Nic.on_event(self, kind, arg)
            return
        cpu = self.line.current_target()
        if kind == _FLUSHED:
            cpu.raise_irq(self.drain, self._deliver_ready(cpu))
            return
        self.drain_timer = 0
        self.advance(self.sim.now)
        cpu.raise_irq(self.drain, self._poll_tx(cpu))
        if self.stopped:
            self._await_send()
