"""What every connected TCP socket has: both halves of the protocol, timers, segments to be sent.

Whose CPU executes the protocol, and what that costs, is the matter of `simnet.net.tcp.socket`; on
`simnet.net.tcp.endpoint`'s hosts it costs nothing.

A machine may have ten thousand connections, and what one of them consists of has long left the
cache when its next packet comes. So it is asked for together, ahead (`simnet.kernel.prefetch`),
and the timers lie in the connection itself.

A kernel timer is looked at when it runs instead of being moved: `mod_timer` made cheap. A
retransmission or delayed-ACK timer is put off by nearly every segment. So the event stays where
it is as long as it comes no later than needed; the component that is called checks whether
anything is due, and sets the timer again if not. Times are jiffies: a timer for jiffy n runs when
jiffy n is over (kernel/timer.c: `expires` has passed).
"""

from __future__ import annotations

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.component import Component
from simnet.kernel.prefetch import prefetch
from simnet.kernel.priority import CPU
from simnet.kernel.sentinel import NONE
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import ECE, ECT, Endpoint, Header, Skb, SkbQueue, new_skb
from simnet.net.tcp.congestion.control import Congestion
from simnet.net.tcp.receive.delayed_ack import DelayedAck
from simnet.net.tcp.receive.queue import ReceiveQueue, ReceiveSequence
from simnet.net.tcp.receive.reassembly import Reassembly
from simnet.net.tcp.receive.receiver import TcpReceiver
from simnet.net.tcp.receive.window import ReceiveWindow
from simnet.net.tcp.recovery.recovery import Recovery
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.net.tcp.rules.ecn import Ecn
from simnet.net.tcp.send.output import SendOutput
from simnet.net.tcp.send.sender import TcpSender
from simnet.net.tcp.send.sequence import SendSequence
from simnet.net.tcp.send.timer import RttEstimator, SendTimer
from simnet.net.tcp.send.validation import WindowValidation

# what an event means
DELACK: cython.int = 0
RTO: cython.int = 1
COMPRESSED: cython.int = 2
SERVED: cython.int = 3
PACED: cython.int = 4


def keep_timer(
    target: Component,
    kind: cython.int,
    event: cython.longlong,
    at: cython.longlong,
    jiffy: cython.longlong,
    jiffy_ps: cython.longlong,
) -> cython.longlong:
    """Return the event of a timer that is to run when `jiffy` is over, or before.

    That is `event`, which stands (0: none does) for jiffy `at`, if it comes no later.
    """
    if event != 0:
        if at <= jiffy:
            return event
        target.sim.cancel(event)
    return target.sim.at((jiffy + 1) * jiffy_ps, target, kind, 0, CPU)


@cython.final
@cython.cclass
class JiffyTimer:
    """Calls `target.on_event(kind, 0)`; it must call `ran` then."""

    event: cython.longlong = 0
    at: cython.longlong = 0
    target: Component = None  # whose timer it is
    kind: cython.int = 0  # of the event
    jiffy_ps: cython.longlong = 0  # length of a jiffy

    def __init__(self, target: Component, kind: int, jiffy_ps: int) -> None:
        self.target = target
        self.kind = kind
        self.jiffy_ps = jiffy_ps

    def set(self, jiffy: cython.longlong) -> cython.int:
        """Have it run when `jiffy` is over, or before."""
        event: cython.longlong = keep_timer(
            self.target, self.kind, self.event, self.at, jiffy, self.jiffy_ps
        )
        if event != self.event:
            self.event = event
            self.at = jiffy
        return 0

    def runs_before(self, time_ps: cython.longlong) -> cython.bint:
        """Whether it is set and runs before `time_ps`."""
        return self.event != 0 and (self.at + 1) * self.jiffy_ps < time_ps

    def ran(self) -> cython.int:
        """It has run and is not set."""
        self.event = 0
        return 0


@cython.cclass
class TcpConnection(Endpoint):
    """One end of a connection.

    Args:
        sim: the simulation.
        path: component path.
        sender, receiver: the protocol's state.
        jiffy_ps: length of a jiffy.
        overhead_bytes: of a segment on the wire beyond its payload.

    `header` stands in the frames that it sends, None where the path alone says where they go.
    """

    sender: TcpSender = None
    receiver: TcpReceiver = None
    seq: SendSequence = None
    board: Scoreboard = None
    timer: SendTimer = None
    rtt: RttEstimator = None
    congestion: Congestion = None
    recovery: Recovery = None
    validation: WindowValidation = None
    sending: SendOutput = None
    received: ReceiveSequence = None
    delack: DelayedAck = None
    window: ReceiveWindow = None
    held: Reassembly = None
    queue: ReceiveQueue = None
    staged: SkbQueue = None
    remote: Endpoint = None
    header: Public[Header] = None
    jiffy_ps: cython.longlong = 0
    rto_event: cython.longlong = 0
    rto_at: cython.longlong = 0
    delack_event: cython.longlong = 0
    delack_at: cython.longlong = 0
    ts_recent: cython.longlong = 0
    delivered: cython.longlong = 0
    acks_sent: cython.longlong = 0
    compressed_ps: cython.longlong = 0

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        sender: TcpSender,
        receiver: TcpReceiver,
        jiffy_ps: cython.longlong,
        overhead_bytes: cython.int,
    ) -> None:
        super().__init__(sim, path)
        self.sender = sender
        self.receiver = receiver
        # its parts' parts, to have all of them fetched together
        self.seq = sender.seq
        self.board = sender.board
        self.congestion = sender.congestion
        self.timer = sender.timer
        self.rtt = sender.timer.rtt
        self.recovery = sender.recovery
        self.validation = sender.validation
        self.sending = sender.output
        self.sending.overhead_bytes = overhead_bytes
        self.received = receiver.seq
        self.delack = receiver.delack
        self.window = receiver.window
        self.held = receiver.window.held
        self.queue = receiver.window.queue
        self.staged = SkbQueue()
        self.jiffy_ps = jiffy_ps
        self.ts_recent = NONE

    def connect(self, remote: Endpoint) -> cython.int:
        """Whatever is sent is for `remote`; without one the path alone says whose it is."""
        self.remote = remote
        return 0

    # -- cache lines ------------------------------------------------------------------------

    @cython.cfunc
    def fetch_sender(self) -> cython.int:
        """Ask for what an acknowledgement changes."""
        if cython.compiled:
            prefetch(cython.cast(cython.p_void, self.sender), cython.sizeof(TcpSender))
            prefetch(cython.cast(cython.p_void, self.seq), cython.sizeof(SendSequence))
            prefetch(cython.cast(cython.p_void, self.board), cython.sizeof(Scoreboard))
            prefetch(cython.cast(cython.p_void, self.congestion), cython.sizeof(Congestion))
            prefetch(cython.cast(cython.p_void, self.timer), cython.sizeof(SendTimer))
            prefetch(cython.cast(cython.p_void, self.rtt), cython.sizeof(RttEstimator))
            prefetch(cython.cast(cython.p_void, self.recovery), cython.sizeof(Recovery))
            prefetch(cython.cast(cython.p_void, self.validation), cython.sizeof(WindowValidation))
            prefetch(cython.cast(cython.p_void, self.sending), cython.sizeof(SendOutput))
        return 0

    @cython.cfunc
    def fetch_receiver(self) -> cython.int:
        """Ask for what a segment changes."""
        if cython.compiled:
            prefetch(cython.cast(cython.p_void, self.receiver), cython.sizeof(TcpReceiver))
            prefetch(cython.cast(cython.p_void, self.delack), cython.sizeof(DelayedAck))
            prefetch(cython.cast(cython.p_void, self.received), cython.sizeof(ReceiveSequence))
            prefetch(cython.cast(cython.p_void, self.window), cython.sizeof(ReceiveWindow))
            prefetch(cython.cast(cython.p_void, self.queue), cython.sizeof(ReceiveQueue))
            prefetch(cython.cast(cython.p_void, self.held), cython.sizeof(Reassembly))
        return 0

    # -- what it sends ----------------------------------------------------------------------

    @cython.cfunc
    def acknowledge_with(self, skb: Skb, jiffy: cython.longlong) -> cython.int:
        """`tcp_transmit_skb`: a segment says what has been received."""
        dsack: cython.bint = self.receiver.held.duplicate is not None
        skb.window = self.receiver.ack_sent()
        skb.ack = self.receiver.seq.rcv_nxt
        self.receiver.fill_sack(skb, dsack)
        skb.tsecr = self.ts_recent
        if self.receiver.ecn is not None:
            self._mark(skb)
        return 0

    def _mark(self, skb: Skb) -> cython.int:
        """`tcp_ecn_send`."""
        if skb.end_seq == skb.seq:
            skb.ecn = self.receiver.ecn.leaving(False)
        else:
            skb.ecn |= self.receiver.ecn.echo()
        return 0

    def use_ecn(self, ecn: Ecn) -> None:
        """The connection has agreed on ECN."""
        self.receiver.ecn = ecn
        self.sender.use_ecn(ecn)

    @cython.cfunc
    def see_marks(self, skb: Skb) -> cython.int:
        """What the bits of a segment say, before it is handled; the connection has ECN."""
        length: cython.longlong = skb.end_seq - skb.seq
        each: cython.longlong = skb.segment_bytes if skb.segment_bytes > 0 else length
        if length > 0:
            self.receiver.ecn.counts(skb.ecn, (length + each - 1) // each)
        self.sender.echoed((skb.ecn & ECE) != 0)
        return self.receiver.marked(skb.ecn, length > 0)

    @cython.cfunc
    def earlier_ack(self, before: cython.longlong, wire_bytes: cython.int) -> Skb:
        """`__tcp_send_ack` of DCTCP: for what came before the marks began, or ceased."""
        ecn: Ecn = self.receiver.ecn
        skb: Skb = new_skb(self.remote, 0, 0, before, self.receiver.seq.room(), wire_bytes, False)
        skb.header = self.header
        skb.tsecr = self.ts_recent
        skb.ecn = ECT if ecn.echoes else ECT | ECE
        self.acks_sent += 1
        return skb

    # -- timers -----------------------------------------------------------------------------

    @cython.cfunc
    def set_delack(self, jiffy: cython.longlong) -> cython.int:
        """Have the delayed-ACK timer run when `jiffy` is over, or before."""
        event: cython.longlong = keep_timer(
            self, DELACK, self.delack_event, self.delack_at, jiffy, self.jiffy_ps
        )
        if event != self.delack_event:
            self.delack_event = event
            self.delack_at = jiffy
        return 0

    @cython.cfunc
    def arm_rto(self, jiffy: cython.longlong) -> cython.int:
        """Have the retransmission timer run when it is due, or before; `jiffy` is now."""
        event: cython.longlong
        due: cython.longlong = self.sender.timer_due(jiffy)
        if due != NONE:
            event = keep_timer(self, RTO, self.rto_event, self.rto_at, due, self.jiffy_ps)
            if event != self.rto_event:
                self.rto_event = event
                self.rto_at = due
        return 0

    @cython.cfunc
    def hold_back(self) -> cython.int:
        """An ACK for a segment ahead of a hole waits for more of them (`compressed_ack_timer`)."""
        if self.receiver.compression.compressed == 1:
            self.compressed_ps = self.sim.now + self.receiver.compression.delay_ps(self.window.rtt)
            self.sim.at(self.compressed_ps, self, COMPRESSED, 0, CPU)
        return 0
