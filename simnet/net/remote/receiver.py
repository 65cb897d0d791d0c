"""A remote host that receives one stream: real TCP, its NIC, and one CPU that serves in order.

What the far end of a stream must get right is when it acknowledges and what window it offers. So
the host is one CPU that does two things: softirq, which takes all frames that have come, by driver
and IP, and the reader, who sleeps in recv and takes segment by segment from the prequeue, by TCP
and the copy. An interrupt preempts the reader, so acknowledgements of frames that came during one
poll leave in a bunch. A machine whose own CPUs are in question is simulated in
full instead, see `simnet.host.machine`.
"""

import cython

from simnet.host.costs import Costs, Spread
from simnet.kernel.compiled import Public
from simnet.kernel.histogram import LogHistogram
from simnet.kernel.priority import CPU
from simnet.kernel.sentinel import NONE
from simnet.kernel.simulator import Simulator
from simnet.net.link.ethernet import LEAST_WIRE_BYTES
from simnet.net.link.skb import Endpoint, Path, Port, Skb, SkbQueue, new_skb
from simnet.net.remote.link import RemoteLink
from simnet.net.tcp.connection import JiffyTimer
from simnet.net.tcp.receive.receiver import TcpReceiver

_DONE: cython.int = 0
_DELACK: cython.int = 1
_US: cython.longlong = 1_000_000


@cython.final
@cython.cclass
class RemoteReceiver(Port):
    """One receiving process with its connection, NIC port and CPU.

    Args:
        receiver: TCP's state.
        link: that acknowledgements leave by.
        costs: of the host's CPU.
        mmio_ps: one register write.
        throttle_ps: least time between interrupts; 0 for none.
        jiffy_ps: length of a jiffy.
        overhead_bytes: of a frame on the wire beyond its payload.

    `poll_spread` and `read_spread` vary the work for each frame. `neighbour` is the ARP entry
    behind which its sender is, if that may move. `busy_ps` is how long its CPU has worked.
    """

    receiver: TcpReceiver = None
    link: RemoteLink = None
    acknowledged: Public[Endpoint] = None
    neighbour: Public[Endpoint] = None
    costs: Costs = None
    poll_spread: Public[Spread] = None
    read_spread: Public[Spread] = None
    prequeue: SkbQueue = None
    reading: Skb = None
    left_ps: cython.longlong = 0
    irq_ps: cython.longlong = 0
    wake_ps: cython.longlong = 0
    ack_ps: cython.longlong = 0
    softirq_frame_ps: cython.longlong = 0
    reader_frame_ps: cython.longlong = 0
    throttle_ps: cython.longlong = 0
    jiffy_ps: cython.longlong = 0
    ack_bytes: cython.int = 0
    working: cython.bint = False
    polling: cython.bint = False
    asleep: cython.bint = False
    unsure: cython.bint = False
    ack_due: cython.bint = False
    copied: cython.longlong = 0
    free_ps: cython.longlong = 0
    last_irq_ps: cython.longlong = 0
    delack: JiffyTimer = None
    latency: LogHistogram = None
    taken: list[tuple[int, int, int]] = None
    interrupts: cython.longlong = 0
    busy_ps: cython.longlong = 0
    delivered_bytes: cython.longlong = 0
    acks_sent: cython.longlong = 0
    ts_recent: cython.longlong = 0

    needs = ("acknowledged", "link.path_out")

    latency_kind = "one-way"

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        receiver: TcpReceiver,
        link: RemoteLink,
        costs: Costs,
        mmio_ps: int,
        throttle_ps: int,
        jiffy_ps: int,
        overhead_bytes: int,
    ) -> None:
        super().__init__(sim, path, 64)
        self.receiver = receiver
        self.link = link
        self.costs = costs
        self.poll_spread = Spread(0, 0)
        self.read_spread = Spread(0, 0)
        # frames that softirq has taken, for the reader
        self.prequeue = SkbQueue()
        # what the reader is at, and how much of its work is left after `free_ps`
        self.irq_ps = costs.hardirq_ps + costs.softirq_entry_ps + costs.poll_ps + 5 * mmio_ps
        self.wake_ps = (
            costs.wakeup_ps + costs.context_switch_ps + costs.syscall_ps + costs.user_recv_ps
        )
        self.ack_ps = costs.ack_tx_ps + mmio_ps
        self.softirq_frame_ps = costs.driver_rx_ps + costs.skb_alloc_ps + costs.ip_rx_ps
        self.reader_frame_ps = costs.tcp_rx_ps + costs.skb_free_ps
        self.throttle_ps = throttle_ps
        self.jiffy_ps = jiffy_ps
        self.ack_bytes = max(overhead_bytes, LEAST_WIRE_BYTES)
        self.last_irq_ps = -throttle_ps
        self.delack = JiffyTimer(self, _DELACK, jiffy_ps)
        self.latency = LogHistogram()
        # segments that TCP has, but whose work may not be done: when it is, latency, payload
        self.taken = []
        self.ts_recent = NONE

    def latency_buckets(self) -> tuple[tuple[int, int], ...]:
        """Histogram of the time from a frame's arrival to its processing: (upper ps, count)."""
        self._settle()
        return self.latency.buckets()

    @property
    def delivered(self) -> int:
        """Payload bytes that the reader has got."""
        self._settle()
        return self.delivered_bytes

    @property
    def unread_bytes(self) -> int:
        """Frames on the wire, in the NIC or in the prequeue, which TCP has not got."""
        return self.incoming.count + self.prequeue.count + (self.reading is not None)

    @property
    def path_out(self) -> Path:
        """Where frames leave to."""
        return self.link.path_out

    @path_out.setter
    def path_out(self, path: Path) -> None:
        self.link.path_out = path

    def frames_added(self) -> cython.int:
        """Frames have been added to `incoming`."""
        if not self.working:
            self._work()
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """What was under way is done, or the delayed-ACK timer runs."""
        if kind == _DELACK:
            self._delack_timer()
        else:
            self.working = False
            self._settle()
            if self.ack_due or (
                self.unsure and self._idle_at(self.sim.now) and self._ack_after_copy()
            ):
                self._acknowledge()
            self.unsure = False
        if not self.working and (self.incoming.count > 0 or self._owned()):
            self._work()

    def _settle(self) -> cython.int:
        """Count the segments whose work is done by now."""
        done_ps: cython.longlong
        latency_ps: cython.longlong
        payload: cython.longlong
        while len(self.taken) > 0:
            done_ps, latency_ps, payload = self.taken[0]
            if done_ps > self.sim.now:
                return 0
            del self.taken[0]
            self.latency.add(latency_ps)
            self.delivered_bytes += payload
        return 0

    def _irq_at(self, skb: Skb) -> cython.longlong:
        """When a frame interrupts: the NIC may hold the interrupt back."""
        least: cython.longlong = self.last_irq_ps + self.throttle_ps
        return skb.arrival_ps if skb.arrival_ps > least else least

    def _owned(self) -> cython.bint:
        """The reader has segments to take: the socket is locked."""
        return self.reading is not None or self.prequeue.count > 0

    def _idle_at(self, time_ps: cython.longlong) -> cython.bint:
        """Nothing is left and no interrupt has come by `time_ps`: recv returns."""
        if self.polling or self.left_ps > 0 or self._owned():
            return False
        return self.incoming.head is None or self._irq_at(self.incoming.head) > time_ps

    def _ack_after_copy(self) -> cython.bint:
        copied: cython.longlong = self.copied
        self.copied = 0
        return copied > 0 and self.receiver.delack.due_after_copy(copied)

    def _work(self) -> cython.int:
        """Work up to the next acknowledgement, as far as it is known which frames come.

        Frames come in order, so a known frame is the next one; where none is known, whether one
        comes is looked up when the time has come. Before the timer all waits until it has run.
        """
        more: cython.bint = True
        self.ack_due = False
        while more and not self.ack_due:
            if self._arp_next():
                more = self._take_arp()
            elif self.polling:
                more = self._poll()
            elif self._interrupted():
                more = self._interrupt()
            else:
                more = self._read()
        if not self.working and (self.ack_due or self.polling or self.unsure):
            self._look_at(self.free_ps)
        return 0

    def _look_at(self, time_ps: cython.longlong) -> cython.int:
        """Go on at `time_ps`, when it is known what has come."""
        self.working = True
        self.sim.at(time_ps, self, _DONE, 0, CPU)
        return 0

    def _arp(self) -> cython.bint:
        """Whether an ARP reply comes first, which is no work but changes where frames go."""
        skb: Skb = self.incoming.head
        return self.neighbour is not None and skb is not None and skb.endpoint is self.neighbour

    def _arp_next(self) -> cython.bint:
        """Whether an ARP reply goes next; it waits until the reader is done with a segment."""
        if not self._arp() or self.polling:
            return False
        if self.left_ps > 0 or self.reading is not None:
            return False
        return self.prequeue.count == 0 or self.incoming.head.arrival_ps <= self.free_ps

    def _take_arp(self) -> cython.bint:
        """Hand the ARP reply over; False if it is not there yet."""
        time_ps: cython.longlong = self.incoming.head.arrival_ps
        if time_ps < self.free_ps:
            time_ps = self.free_ps
        if time_ps > self.sim.now:
            self._look_at(time_ps)
            return False
        self.neighbour.receive(self.incoming.pop(), None)
        return True

    def _interrupted(self) -> cython.bint:
        """Whether softirq goes next, since a frame has come or there is nothing to read."""
        skb: Skb = self.incoming.head
        if skb is None or self._arp():
            return False
        return self._irq_at(skb) <= self.free_ps or not (self.left_ps > 0 or self._owned())

    def _interrupt(self) -> cython.bint:
        """The interrupt of the next frame; False if the timer is to run before."""
        start: cython.longlong = self._irq_at(self.incoming.head)
        if start < self.free_ps:
            start = self.free_ps
        if self.delack.runs_before(start):
            return False
        # if it is later than that, nothing was left to do
        self.asleep = start > self.free_ps
        self.last_irq_ps = start
        self.interrupts += 1
        self.free_ps = start + self.irq_ps
        self.busy_ps += self.irq_ps
        self.polling = True
        return True

    def _poll(self) -> cython.bint:
        """Take a frame that has come, or end; False if one could still come."""
        skb: Skb = self.incoming.head
        work: cython.longlong
        if skb is not None and skb.arrival_ps <= self.free_ps and not self._arp():
            self.prequeue.append(self.incoming.pop())
            work = self.poll_spread.vary(self.softirq_frame_ps)
            self.free_ps += work
            self.busy_ps += work
            return True
        if skb is None and self.free_ps > self.sim.now:
            return False
        self.polling = False
        if self.asleep:
            self.asleep = False
            self.left_ps += self.wake_ps
        return True

    def _read(self) -> cython.bint:
        """Run the reader until it is done with a segment or preempted; False if it has to wait."""
        skb: Skb = self.incoming.head
        end: cython.longlong
        irq: cython.longlong
        if self.left_ps == 0 and self.reading is None:
            if self.prequeue.count == 0 or self.delack.runs_before(self.free_ps):
                return False
            self._begin_read()
        end = self.free_ps + self.left_ps
        if self.delack.runs_before(end):
            return False
        if skb is not None and not self._arp():
            irq = self._irq_at(skb)
            if irq < end:
                self.busy_ps += irq - self.free_ps
                self.left_ps = end - irq
                self.free_ps = irq
                return True
        if skb is None and end > self.sim.now:
            self._look_at(end)
            return False
        self.busy_ps += self.left_ps
        self.free_ps = end
        self.left_ps = 0
        if self.reading is not None:
            self._end_read()
        return True

    def _begin_read(self) -> cython.int:
        lines: cython.longlong
        self.reading = self.prequeue.pop()
        lines = self.costs.lines(self.reading.end_seq - self.reading.seq)
        self.left_ps = self.read_spread.vary(self.reader_frame_ps + lines * self.costs.copy_line_ps)
        return 0

    def _end_read(self) -> cython.int:
        skb: Skb = self.reading
        self.reading = None
        self._take(skb, self.free_ps)
        if not self.ack_due:
            # does recv return?
            self.unsure = self.incoming.head is None and self.free_ps > self.sim.now
            if not self.unsure and self._idle_at(self.free_ps):
                self.ack_due = self._ack_after_copy()
        return 0

    def _take(self, skb: Skb, done_ps: cython.longlong) -> cython.int:
        """TCP takes a segment and the reader its payload, at `done_ps`."""
        receiver: TcpReceiver = self.receiver
        jiffy: cython.longlong = done_ps // self.jiffy_ps
        before: cython.longlong = receiver.seq.copied_seq
        timeout: cython.longlong
        in_order: cython.bint = skb.seq == receiver.seq.rcv_nxt
        if receiver.rule_clock_us:
            receiver.now_us = done_ps // _US
        if skb.seq <= receiver.seq.rcv_wup <= skb.end_seq and skb.tsval > self.ts_recent:
            # tcp_replace_ts_recent, which tcp_sequence keeps old duplicates from
            self.ts_recent = skb.tsval
        if receiver.segment(skb.seq, skb.end_seq, skb.push, in_order, jiffy):
            self.ack_due = True
        elif receiver.compression.started:
            # what the peer would hold back for a tenth of a millisecond goes out at once
            self.ack_due = True
        else:
            timeout = receiver.delack.schedule_timer(jiffy)
            if timeout == 0:
                self.ack_due = True
            else:
                self.delack.set(timeout)
        if receiver.readable() > 0:
            receiver.copied(receiver.readable(), jiffy)
        elif in_order:
            receiver.space_adjust(jiffy)
        self.copied += receiver.seq.copied_seq - before
        self.taken.append((done_ps, done_ps - skb.arrival_ps, receiver.seq.copied_seq - before))
        return 0

    def _acknowledge(self) -> cython.int:
        """`tcp_send_ack`."""
        now: cython.longlong = self.sim.now
        dsack: cython.bint = self.receiver.held.duplicate is not None
        window: cython.longlong = self.receiver.ack_sent()
        skb: Skb = new_skb(
            self.acknowledged, 0, 0, self.receiver.seq.rcv_nxt, window, self.ack_bytes, False
        )
        self.acks_sent += 1
        self.receiver.fill_sack(skb, dsack)
        skb.tsecr = self.ts_recent
        self.link.send(skb, now)
        self.link.path_out.flush()
        if self.free_ps < now:
            self.free_ps = now
        self.left_ps += self.ack_ps
        return 0

    # -- delayed ACK ------------------------------------------------------------------------

    def _delack_timer(self) -> cython.int:
        """The timer is not moved when it is put off; whether it is due is looked up here."""
        jiffy: cython.longlong = self.sim.now // self.jiffy_ps
        due: cython.longlong = self.receiver.delack.timeout_jiffy
        self.delack.ran()
        if due == NONE:
            return 0
        if due >= jiffy:
            self.delack.set(due)
            return 0
        if self.reading is not None:
            # the reader acknowledges when it is done
            self.receiver.delack.blocked = True
            self.receiver.delack.timeout_jiffy = jiffy + self.receiver.delack.delack_min
            self.delack.set(self.receiver.delack.timeout_jiffy)
            return 0
        if self.receiver.delack.expired():
            self._acknowledge()
        return 0
