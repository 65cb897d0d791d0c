"""A connected TCP socket on a host that costs nothing, or a fixed time for each segment.

For questions about TCP itself: both halves of a connection, segments that carry data and an
acknowledgement at once, timers, and an application. Segments are processed in the order of
`tcp_rcv_established` (net/ipv4/tcp_input.c): acknowledgement, data, what may be sent now, and an
ACK if none went with it; then the application runs, for which waiting costs nothing.
What processes and interrupts do to that is `simnet.net.tcp.socket`'s.
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.kernel.prefetch import prefetch
from simnet.kernel.priority import CPU
from simnet.kernel.release import release
from simnet.kernel.sentinel import NONE
from simnet.kernel.simulator import Simulator
from simnet.net.link.ethernet import LEAST_WIRE_BYTES
from simnet.net.link.skb import Endpoint, Header, Skb, SkbQueue, Uplink, new_skb
from simnet.net.tcp.connection import COMPRESSED, DELACK, RTO, SERVED, TcpConnection
from simnet.net.tcp.receive.receiver import TcpReceiver
from simnet.net.tcp.receive.window import ReceiveWindow
from simnet.net.tcp.send.sender import TcpSender

_US: cython.longlong = 10**6


@cython.cclass
class Application:
    """What uses a socket. Subclass it; both calls may read and write."""

    def readable(self, socket: TcpEndpoint) -> cython.int:
        """Bytes are in the receive queue."""
        raise NotImplementedError

    def writable(self, socket: TcpEndpoint) -> cython.int:
        """The connection is there, or a third of the send buffer is free again."""
        raise NotImplementedError


@cython.final
@cython.cclass
class BulkSource(Application):
    """Writes as much as the send buffer takes, up to `total_bytes` (0 for no end)."""

    total_bytes: cython.longlong = 0  # what it has to send
    written: cython.longlong = 0

    def __init__(self, total_bytes: int = 0) -> None:
        self.total_bytes = total_bytes

    def readable(self, socket: TcpEndpoint) -> cython.int:
        """No answer is expected: discard it."""
        socket.read(socket.receiver.readable())
        return 0

    def writable(self, socket: TcpEndpoint) -> cython.int:
        """Fill the send buffer."""
        count: cython.longlong
        while True:
            count = socket.seq.room()
            if self.total_bytes > 0 and count > self.total_bytes - self.written:
                count = self.total_bytes - self.written
            if count <= 0:
                return 0
            self.written += count
            socket.write(count)


@cython.final
@cython.cclass
class Sink(Application):
    """Reads everything at once."""

    def readable(self, socket: TcpEndpoint) -> cython.int:
        """Read it."""
        socket.read(socket.receiver.readable())
        return 0

    def writable(self, socket: TcpEndpoint) -> cython.int:
        """Nothing to write."""
        return 0


@cython.final
@cython.cclass
class TcpEndpoint(TcpConnection):
    """One end of a connection.

    Args:
        sim: the simulation.
        path: component path.
        sender, receiver: the protocol's state.
        application: who uses it.
        path_out: where segments leave to.
        jiffy_ps: length of a jiffy.
        overhead_bytes: of a segment on the wire beyond its payload.
        service_ps: what a segment that arrives keeps the host busy for.

    Once it is connected to the other end and knows that one's window, call `begin`.
    """

    application: Application = None
    path_out: Uplink = None
    service_ps: cython.longlong = 0
    free_ps: cython.longlong = 0
    waiting: SkbQueue = None
    full: cython.bint = False
    segments_received: cython.longlong = 0

    needs = ("remote", "application")

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        sender: TcpSender,
        receiver: TcpReceiver,
        application: Application,
        path_out: Uplink,
        jiffy_ps: cython.longlong,
        overhead_bytes: cython.int,
        service_ps: cython.longlong = 0,
    ) -> None:
        super().__init__(
            sim,
            path,
            sender=sender,
            receiver=receiver,
            jiffy_ps=jiffy_ps,
            overhead_bytes=overhead_bytes,
        )
        self.application = application
        self.path_out = path_out
        self.service_ps = service_ps
        self.waiting = SkbQueue()

    def begin(self) -> None:
        """The handshake is over and the peer's window known: let the application begin."""
        self.application.writable(self)

    def disconnect(self) -> cython.int:
        """See `Target`."""
        release(self.application)
        return release(self)

    def fetch(self, data: cython.bint) -> cython.int:
        """Ask for the cache lines of the connection."""
        if cython.compiled:
            prefetch(cython.cast(cython.p_void, self), cython.sizeof(TcpEndpoint))
            prefetch(cython.cast(cython.p_void, self.staged), cython.sizeof(SkbQueue))
            if data:
                prefetch(cython.cast(cython.p_void, self.window), cython.sizeof(ReceiveWindow))
                prefetch(cython.cast(cython.p_void, self.application), cython.sizeof(Application))
                self._fetch_answer()
            else:
                prefetch(cython.cast(cython.p_void, self.receiver), cython.sizeof(TcpReceiver))
            self.fetch_sender()
        return 0

    @cython.cfunc
    def fetch_to_send(self) -> cython.int:
        """Ask for what it takes to send data, which acknowledge what has come."""
        if cython.compiled:
            prefetch(cython.cast(cython.p_void, self), cython.sizeof(TcpEndpoint))
            prefetch(cython.cast(cython.p_void, self.staged), cython.sizeof(SkbQueue))
            self._fetch_answer()
            self.fetch_sender()
        return 0

    def _fetch_answer(self) -> cython.int:
        """Ask for what a segment changes, and what its acknowledgement leaves with."""
        if cython.compiled:
            self.fetch_receiver()
            prefetch(cython.cast(cython.p_void, self.header), cython.sizeof(Header))
            prefetch(cython.cast(cython.p_void, self.remote), cython.sizeof(Endpoint))
        return 0

    def expect(self, kind: cython.int) -> cython.int:
        """A timer runs next, or a segment is served: ask for what it needs."""
        if kind == DELACK:
            self._fetch_answer()
        else:
            self.fetch_sender()
        return 0

    # -- the application's calls ----------------------------------------------------------

    def write(self, count: cython.longlong) -> cython.longlong:
        """One call of send: return how many bytes fit into the send buffer."""
        room: cython.longlong = self.seq.room()
        self.full = count > room
        if self.full:
            count = room
        if count > 0:
            self.timer.set_time(self.sim.now)
            self.seq.write(count, True)
            self._output()
        if self.seq.room() == 0:
            self.full = True
        return count

    def read(self, count: cython.longlong) -> cython.longlong:
        """One call of recv: return how many bytes were there, at most `count`."""
        readable: cython.longlong = self.receiver.readable()
        if count > readable:
            count = readable
        if count > 0:
            self.delivered += count
            self.receiver.copied(count, self.sim.now // self.jiffy_ps)
            if self.receiver.delack.due_after_copy(count):
                self._send_ack()
        return count

    # -- segments -------------------------------------------------------------------------

    def receive(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """A segment has arrived; it is processed now, or when the host comes to it."""
        now: cython.longlong = self.sim.now
        if self.service_ps == 0:
            self._process(skb)
            return 0
        if self.free_ps < now:
            self.free_ps = now
        self.free_ps += self.service_ps
        self.waiting.append(skb)
        self.sim.at(self.free_ps, self, SERVED, 0, CPU)
        return self.service_ps

    def _process(self, skb: Skb) -> cython.int:
        """`tcp_rcv_established`."""
        jiffy: cython.longlong = self.sim.now // self.jiffy_ps
        timeout: cython.longlong
        at_once: cython.bint = False
        self.segments_received += 1
        self.timer.set_time(self.sim.now)
        self.sender.acknowledge(
            skb.ack, skb.window, jiffy, skb.sack, skb.tsecr, skb.end_seq > skb.seq
        )
        if skb.end_seq > skb.seq:
            if skb.seq <= self.receiver.seq.rcv_wup <= skb.end_seq and skb.tsval > self.ts_recent:
                # tcp_replace_ts_recent, which tcp_sequence keeps old duplicates from
                self.ts_recent = skb.tsval
            if self.receiver.rule_clock_us:
                self.receiver.now_us = self.sim.now // _US
            at_once = self.receiver.segment(skb.seq, skb.end_seq, skb.push, False, jiffy)
        self._output()
        if skb.end_seq > skb.seq and self.receiver.delack.scheduled:
            if self.receiver.compression.started:
                self.hold_back()
            elif not at_once:
                timeout = self.receiver.delack.schedule_timer(jiffy)
                if timeout > 0:
                    self.set_delack(timeout)
                else:
                    at_once = True
            if at_once:
                self._send_ack()
        if self.receiver.readable() > 0:
            self.application.readable(self)
        if self.full and self.sender.write_space():
            self.full = False
            self.application.writable(self)
        return 0

    def _output(self) -> cython.int:
        """`tcp_write_xmit`: send what may go now, each segment with an acknowledgement."""
        jiffy: cython.longlong = self.sim.now // self.jiffy_ps
        self.sending.stage(self.staged, None, jiffy)
        self._transmit(jiffy)
        return 0

    def _transmit(self, jiffy: cython.longlong) -> cython.int:
        """Send what is staged, and set the retransmission timer."""
        skb: Skb
        while self.staged.count > 0:
            skb = self.staged.pop()
            skb.endpoint = self.remote
            skb.header = self.header
            self.acknowledge_with(skb, jiffy)
            self.receiver.delack.data_sent(jiffy)
            self.path_out.send(skb)
        return self.arm_rto(jiffy)

    def _send_ack(self) -> cython.int:
        """`tcp_send_ack`."""
        size: cython.int = self.sending.overhead_bytes
        skb: Skb
        if size < LEAST_WIRE_BYTES:
            size = LEAST_WIRE_BYTES
        skb = new_skb(self.remote, 0, 0, 0, 0, size, False)
        skb.header = self.header
        self.acknowledge_with(skb, self.sim.now // self.jiffy_ps)
        self.acks_sent += 1
        self.path_out.send(skb)
        return 0

    # -- timers ---------------------------------------------------------------------------

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A timer has run, or the host has come to a segment."""
        jiffy: cython.longlong = self.sim.now // self.jiffy_ps
        if kind == SERVED:
            self._process(self.waiting.pop())
        elif kind == COMPRESSED:
            if self.receiver.compression.compressed > 0 and self.sim.now >= self.compressed_ps:
                self._send_ack()
        elif kind == RTO:
            self.rto_event = 0
            self.timer.set_time(self.sim.now)
            if self.timer.overdue(jiffy) and self.sender.timer_expired(jiffy):
                self.sending.stage(self.staged, None, jiffy)
                self.sending.stage_probe(self.staged, None)
            self._transmit(jiffy)
        else:
            self.delack_event = 0
            self._delack_timer(jiffy)

    def _delack_timer(self, jiffy: cython.longlong) -> cython.int:
        """The delayed ACK's timer ends (`tcp_delack_timer_handler`)."""
        due: cython.longlong = self.receiver.delack.timeout_jiffy
        if due == NONE:
            return 0
        if due >= jiffy:
            self.set_delack(due)
            return 0
        self.receiver.delack.timeout_jiffy = NONE
        if self.receiver.delack.expired():
            self._send_ack()
        return 0

    def counters(self) -> dict[str, int]:
        """Of both halves."""
        return {
            "delivered": self.delivered,
            "acks_sent": self.acks_sent,
            "delayed_acks": self.delack.delayed_acks,
            "segments_received": self.segments_received,
            "segments_sent": self.sending.segments,
            "retransmissions": self.sending.retransmissions,
            "timeouts": self.sender.timeouts,
        }
