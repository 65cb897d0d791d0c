"""A remote host that receives one stream: real TCP, its NIC, and one CPU that serves in order.

What the far end of a stream must get right is when it acknowledges and what window it offers. So
the host is one server without preemption: an interrupt for a frame that finds it idle, then frame
by frame driver, TCP and the copy to a reader who always waits in recv. A machine whose own CPUs
are in question is simulated in full instead, see `simnet.host.machine`.
"""

from __future__ import annotations

import cython

from simnet.host.costs import Costs
from simnet.kernel.histogram import LogHistogram
from simnet.kernel.simulator import Simulator
from simnet.net.remote_link import RemoteLink
from simnet.net.skb import Endpoint, Skb, new_skb
from simnet.net.tcp_receiver import TcpReceiver
from simnet.net.wire import Path, Port

__all__ = ["RemoteReceiver"]

_NONE = cython.declare(cython.longlong, -1)
_PRIORITY_CPU = cython.declare(cython.int, 2)
_DONE = cython.declare(cython.int, 0)
_DELACK = cython.declare(cython.int, 1)


@cython.final
@cython.cclass
class RemoteReceiver(Port):
    """One receiving process with its connection, NIC port and CPU.

    Args:
        sim: the simulation.
        path: component path.
        receiver: TCP's state.
        link: that acknowledgements leave by.
        costs: of the host's CPU.
        mmio_ps: one register write.
        throttle_ps: least time between interrupts; 0 for none.
        jiffy_ps: length of a jiffy.
        overhead_bytes: of a frame on the wire beyond its payload.

    `neighbour` is the ARP entry behind which its sender is, if that may move.
    """

    receiver: TcpReceiver
    link: RemoteLink
    acknowledged: Endpoint
    neighbour: Endpoint
    costs: Costs
    irq_ps: cython.longlong
    ack_ps: cython.longlong
    frame_ps: cython.longlong
    throttle_ps: cython.longlong
    jiffy_ps: cython.longlong
    ack_bytes: cython.int
    working: cython.bint
    ack_due: cython.bint
    copied: cython.longlong
    free_ps: cython.longlong
    last_irq_ps: cython.longlong
    delack_timer: cython.longlong
    delack_at: cython.longlong
    latency: LogHistogram
    taken: list[tuple[int, int, int]]
    interrupts: cython.longlong
    delivered_bytes: cython.longlong
    acks_sent: cython.longlong

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
        self.acknowledged = None
        self.neighbour = None
        self.costs = costs
        self.irq_ps = (
            costs.hardirq_ps
            + costs.softirq_entry_ps
            + costs.poll_ps
            + 5 * mmio_ps
            + costs.wakeup_ps
            + costs.context_switch_ps
            + costs.syscall_ps
            + costs.user_recv_ps
        )
        self.ack_ps = costs.ack_tx_ps + mmio_ps
        self.frame_ps = (
            costs.driver_rx_ps
            + costs.skb_alloc_ps
            + costs.ip_rx_ps
            + costs.tcp_rx_ps
            + costs.skb_free_ps
        )
        self.throttle_ps = throttle_ps
        self.jiffy_ps = jiffy_ps
        self.ack_bytes = max(overhead_bytes, 84)
        self.working = False
        self.ack_due = False
        self.copied = 0
        self.free_ps = 0
        self.last_irq_ps = -throttle_ps
        self.delack_timer = 0
        self.delack_at = _NONE
        self.latency = LogHistogram()
        # segments that TCP has, but whose work may not be done: when it is, latency, payload
        self.taken = []
        self.interrupts = 0
        self.delivered_bytes = 0
        self.acks_sent = 0

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
    def path_out(self) -> Path:
        """Where frames leave to."""
        return self.link.path_out

    @path_out.setter
    def path_out(self, path: Path) -> None:
        self.link.path_out = path

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def frames_coming(self) -> cython.int:
        """Frames have been added to `incoming`."""
        if not self.working:
            self._work()
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """What was under way is done, or the delayed-ACK timer runs."""
        if kind == _DELACK:
            self._delack()
        else:
            self.working = False
            self._settle()
            if self.ack_due or (self._idle_at(self.sim.now) and self._ack_after_copy()):
                self._acknowledge()
        if self.incoming.count > 0 and not self.working:
            self._work()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
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

    @cython.cfunc
    @cython.exceptval(-1)
    def _idle_at(self, time_ps: cython.longlong) -> cython.bint:
        """No frame has come by `time_ps`: recv returns."""
        return self.incoming.head is None or self.incoming.head.arrival_ps > time_ps

    @cython.cfunc
    @cython.exceptval(-1)
    def _ack_after_copy(self) -> cython.bint:
        copied: cython.longlong = self.copied
        self.copied = 0
        return copied > 0 and self.receiver.ack_due_after_copy(copied)

    @cython.cfunc
    @cython.exceptval(-1)
    def _timer_by(self, time_ps: cython.longlong) -> cython.bint:
        """Whether the delayed-ACK timer is to run before `time_ps`."""
        return self.delack_timer != 0 and (self.delack_at + 1) * self.jiffy_ps < time_ps

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _work(self) -> cython.int:
        """Serve frames up to the next acknowledgement, as far as they are known to come.

        Frames come in order, so a known frame is the next one and nothing can come between; only
        the timer could, and then the rest is left until it has run.
        """
        skb: Skb = self.incoming.head
        start: cython.longlong
        end: cython.longlong = self.free_ps
        # when TCP gets the next frame, if it has arrived
        ready: cython.longlong = self.sim.now
        work: cython.longlong
        served: cython.int = 0
        self.ack_due = False
        while skb is not None and not self.ack_due:
            if self._timer_by(skb.arrival_ps if skb.arrival_ps > ready else ready):
                break
            if self.neighbour is not None and skb.endpoint is self.neighbour:
                # an ARP reply, which changes where acknowledgements go
                if served > 0:
                    break
                if skb.arrival_ps > ready:
                    self.working = True
                    self.sim.at(skb.arrival_ps, self, _DONE, 0, _PRIORITY_CPU)
                    return 0
                self.neighbour.receive(self.incoming.pop(), None)
                skb = self.incoming.head
                continue
            start = end
            work = self._frame_work_ps(skb)
            if skb.arrival_ps > start:
                # idle: an interrupt, which the NIC may hold back
                start = skb.arrival_ps
                if start < self.last_irq_ps + self.throttle_ps:
                    start = self.last_irq_ps + self.throttle_ps
                self.last_irq_ps = start
                self.interrupts += 1
                work += self.irq_ps
            end = start + work
            ready = end
            served += 1
            self.incoming.pop()
            self._take(skb, end)
            skb = self.incoming.head
            if not self.ack_due and skb is not None and skb.arrival_ps > end:
                self.ack_due = self._ack_after_copy()
        if served > 0:
            self.working = True
            self.free_ps = end
            self.sim.at(end, self, _DONE, 0, _PRIORITY_CPU)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _frame_work_ps(self, skb: Skb) -> cython.longlong:
        lines: cython.longlong = skb.end_seq - skb.seq + self.costs.line_bytes - 1
        return self.frame_ps + lines // self.costs.line_bytes * self.costs.copy_line_ps

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _take(self, skb: Skb, done_ps: cython.longlong) -> cython.int:
        """TCP takes a segment and the reader its payload, at `done_ps`."""
        receiver: TcpReceiver = self.receiver
        jiffy: cython.longlong = done_ps // self.jiffy_ps
        before: cython.longlong = receiver.copied_seq
        timeout: cython.longlong
        in_order: cython.bint = skb.seq == receiver.rcv_nxt
        if receiver.segment(skb.seq, skb.end_seq, skb.push, in_order, jiffy):
            self.ack_due = True
        else:
            timeout = receiver.schedule_delack(jiffy)
            if timeout == 0:
                self.ack_due = True
            else:
                self._arm_delack(timeout)
        if receiver.readable() > 0:
            receiver.copied(receiver.readable(), jiffy)
        elif in_order:
            receiver.space_adjust(jiffy)
        self.copied += receiver.copied_seq - before
        self.taken.append((done_ps, done_ps - skb.arrival_ps, receiver.copied_seq - before))
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _acknowledge(self) -> cython.int:
        """`tcp_send_ack`."""
        now: cython.longlong = self.sim.now
        dsack: cython.bint = self.receiver.dsack
        window: cython.longlong = self.receiver.ack_sent(now // self.jiffy_ps)
        skb: Skb = new_skb(
            self.acknowledged, 0, 0, self.receiver.rcv_nxt, window, self.ack_bytes, False
        )
        self.acks_sent += 1
        self.receiver.fill_sack(skb, dsack)
        self.link.send(skb, now)
        self.link.path_out.flush()
        if self.free_ps < now:
            self.free_ps = now
        self.free_ps += self.ack_ps
        return 0

    # -- delayed ACK ------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _arm_delack(self, jiffy: cython.longlong) -> cython.int:
        if self.delack_timer != 0:
            if self.delack_at <= jiffy:
                return 0
            self.sim.cancel(self.delack_timer)
        self.delack_at = jiffy
        self.delack_timer = self.sim.at(
            (jiffy + 1) * self.jiffy_ps, self, _DELACK, 0, _PRIORITY_CPU
        )
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _delack(self) -> cython.int:
        """The timer is not moved when it is put off; whether it is due is looked up here."""
        jiffy: cython.longlong = self.sim.now // self.jiffy_ps
        due: cython.longlong = self.receiver.timeout_jiffy
        self.delack_timer = 0
        if due == _NONE:
            return 0
        if due >= jiffy:
            self._arm_delack(due)
            return 0
        self.receiver.timeout_jiffy = _NONE
        if self.receiver.delack_expired(jiffy):
            # it covers the segments whose work is under way
            self.ack_due = False
            self._acknowledge()
        return 0
