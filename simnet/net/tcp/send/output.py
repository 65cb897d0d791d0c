"""What a sender sends: Nagle, TSO deferral, new segments, what is sent again.

Source: net/ipv4/tcp_output.c (`tcp_write_xmit`, `tcp_nagle_check` with Minshall's rule,
`tcp_tso_should_defer`, `tcp_xmit_retransmit_queue`, `tcp_send_loss_probe`,
`tcp_xmit_probe_skb`).
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.kernel.compiled import Public
from simnet.kernel.sentinel import NEVER, NONE
from simnet.net.link.ethernet import LEAST_WIRE_BYTES
from simnet.net.link.skb import Skb, SkbQueue, new_skb
from simnet.net.tcp.congestion.control import Congestion
from simnet.net.tcp.recovery.recovery import OPEN, Recovery
from simnet.net.tcp.recovery.sack_recovery import SackRecovery
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.net.tcp.rules.ecn import Ecn
from simnet.net.tcp.rules.sender_version import SenderRules
from simnet.net.tcp.send.sequence import SendSequence
from simnet.net.tcp.send.small_queue import SmallQueue
from simnet.net.tcp.send.timer import SendTimer
from simnet.net.tcp.send.validation import WindowValidation

_TSO_BYTES: cython.longlong = 65536
_MAX_BURST: cython.longlong = 3
_US_PS: cython.longlong = 10**6
_MS_US: cython.longlong = 1000


@cython.final
@cython.no_gc
@cython.cclass
class SendOutput:
    """What one connection sends.

    Args:
        recovery: its state, with its segments, its window and its timer.
        validation: what it has used of its window.
        rules: of the kernel's version.
        tso: the NIC segments.
        tso_win_divisor: tcp_tso_win_divisor.
        timestamps: segments carry the timestamps option.
    """

    recovery: Recovery = None
    sacks: SackRecovery = None
    validation: WindowValidation = None
    seq: SendSequence = None
    board: Scoreboard = None
    timer: SendTimer = None
    congestion: Congestion = None
    small_end: cython.longlong = 0
    unsent_jiffy: cython.longlong = 0
    small_queue: Public[SmallQueue] = None  # what is queued below; None where nothing bounds it
    ecn: Public[Ecn] = None  # None if the connection has not agreed on it
    # what is less than a full segment ends the large one under way; `joined`: it has
    tail_joins: cython.bint = False
    joined: cython.bint = False
    begins: cython.bint = False
    segments: cython.longlong = 0  # sent for the first time; `retransmissions` come on top
    nagle_limit: Public[cython.longlong] = 0  # Nagle's algorithm holds no longer segment back
    burst_left: cython.int = 0  # segments that the NIC will still cut from the last frame
    overhead_bytes: Public[cython.int] = 0  # of a segment on the wire beyond its payload
    deferred_limited: cython.bint = False
    # TCP_NODELAY and TCP_CORK
    nodelay: Public[cython.bint] = False
    cork: Public[cython.bint] = False
    tso: cython.bint = False
    timestamps: cython.bint = False
    tso_win_divisor: cython.int = 0
    minshall: cython.bint = False
    defers_two_ticks: cython.bint = False
    defers_briefly: cython.bint = False
    # how often what had been written was not sent for more than a jiffy, which only a timer
    # at either end takes that long for; `stalled_jiffies` is how long, in all
    stalls: cython.int = 0
    deferred_jiffy: cython.longlong = 0
    last_sent_us: cython.longlong = 0
    retransmissions: cython.longlong = 0
    stalled_jiffies: cython.longlong = 0

    def __init__(
        self,
        recovery: Recovery,
        validation: WindowValidation,
        rules: SenderRules,
        tso: cython.bint,
        tso_win_divisor: cython.int,
        timestamps: cython.bint,
    ) -> None:
        self.recovery = recovery
        self.validation = validation
        self.seq = recovery.seq
        self.board = recovery.board
        self.timer = recovery.timer
        self.congestion = recovery.congestion
        self.sacks = recovery if isinstance(recovery, SackRecovery) else None
        self.tso = tso
        self.tso_win_divisor = tso_win_divisor
        self.timestamps = timestamps
        self.defers_two_ticks = rules.defers_two_ticks
        self.defers_briefly = rules.defers_briefly
        self.minshall = rules.minshall
        self.nagle_limit = NEVER
        self.deferred_jiffy = NONE
        self.unsent_jiffy = NONE

    def _next_segment(self, now_jiffy: cython.longlong) -> cython.longlong:
        """Payload of the next segment that may be sent now for the first time; 0 if none may."""
        length: cython.longlong = self.seq.write_seq - self.seq.snd_nxt
        window: cython.longlong
        free: cython.longlong
        held: cython.bint = False
        begins: cython.bint = self.burst_left == 0
        joins: cython.bint = self.tail_joins
        self.tail_joins = False
        if length <= 0:
            return 0
        free = self.congestion.cwnd - self.board.in_flight()
        if free <= 0:
            return 0
        # `window_left`, without a call for each segment
        window = self.seq.snd_una + self.seq.snd_wnd - self.seq.snd_nxt
        if length > self.seq.mss:
            length = self.seq.mss
        if length > window:
            return self._probe_bytes(window)
        if length < self.seq.mss:
            held = self._too_small(length)
        elif self.burst_left > 0:
            self.burst_left -= 1
        elif self.tso:
            held = self._defers(free, window, now_jiffy)
        if self.small_queue is None or held:
            return 0 if held else length
        if begins and not (joins and length < self.seq.mss):
            return 0 if self._waits_below(length) else length
        self.tail_joins = joins and length == self.seq.mss
        self.joined = joins and length < self.seq.mss
        return length

    def _waits_below(self, length: cython.longlong) -> cython.bint:
        """The large segment that begins waits for others that the device still holds."""
        mss: cython.longlong = self.seq.mss
        queue: SmallQueue = self.small_queue
        left: cython.longlong = self.seq.write_seq - self.seq.snd_nxt
        out: cython.longlong = self.board.tail - self.board.head
        most: cython.longlong = self._goal_segments()
        truesize: cython.longlong = queue.truesize(length + self.burst_left * mss, mss)
        held: cython.bint = (
            queue.waits(self.timer.now_us)
            or (left < most * mss and out > 0 and queue.corks(queue.truesize(left, mss)))
            or queue.throttles(truesize, (out + most - 1) // most)
        )
        if held:
            self.burst_left = 0
        else:
            self.tail_joins = left <= most * mss and left < (self.burst_left + 2) * mss
            self.joined = False
        return held

    def _goal_segments(self) -> cython.longlong:
        """Segments of the longest large one."""
        most: cython.longlong = _TSO_BYTES
        if self.small_queue is not None:
            most = self.small_queue.goal_bytes(self.seq.mss, self.timer.rtt.least_us)
        return max(most // self.seq.mss, 1)

    def _probe_bytes(self, window: cython.longlong) -> cython.longlong:
        """`tcp_write_wakeup`: if the window is to be probed, as much as it takes."""
        if window <= 0 or not self.timer.take_probe():
            return 0
        self.seq.push(self.seq.snd_nxt + window)
        return window

    def _too_small(self, length: cython.longlong) -> cython.bint:
        """Nagle's algorithm holds the segment back, and it is no window probe, either."""
        return length < self.nagle_limit and self._holds_back() and not self.timer.take_probe()

    def _holds_back(self) -> cython.bint:
        """`tcp_nagle_check`: a small segment waits for more data, or for a small one's ACK."""
        if self.cork:
            return True
        return (
            not self.nodelay
            and self.board.tail > self.board.head
            and (self.small_end > self.seq.snd_una or not self.minshall)
        )

    def _defers(
        self, free: cython.longlong, window: cython.longlong, now_jiffy: cython.longlong
    ) -> cython.bint:
        """`tcp_tso_should_defer`, once for a frame that the NIC will cut into segments."""
        chunk: cython.longlong
        defers: cython.bint
        segments: cython.longlong = free
        free *= self.seq.mss
        by_cwnd: cython.bint = free < window
        if window < free:
            free = window
        if (
            self.recovery.state == OPEN
            and free < _TSO_BYTES
            and self.board.tail > self.board.head
            and not (self.defers_briefly and self._acks_late())
            and not (
                self.defers_two_ticks
                and self.deferred_jiffy != NONE
                and now_jiffy - self.deferred_jiffy > 1
            )
        ):
            if self.tso_win_divisor > 0:
                chunk = self.congestion.cwnd * self.seq.mss
                if self.seq.snd_wnd < chunk:
                    chunk = self.seq.snd_wnd
                defers = free < chunk // self.tso_win_divisor
                if defers and self.deferred_jiffy == NONE:
                    self.deferred_jiffy = now_jiffy
            else:
                defers = self.seq.write_seq - self.seq.snd_nxt > free and segments <= _MAX_BURST
            if defers:
                self.deferred_limited = by_cwnd and free <= self._head_bytes()
                return True
        self.deferred_jiffy = NONE
        if self.seq.write_seq - self.seq.snd_nxt < free:
            free = self.seq.write_seq - self.seq.snd_nxt
        self.burst_left = min(free // self.seq.mss, self._goal_segments()) - 1
        return False

    def _head_bytes(self) -> cython.longlong:
        """Payload of the first large segment that waits (`tcp_send_head`)."""
        return min(self.seq.write_seq - self.seq.snd_nxt, self._goal_segments() * self.seq.mss)

    def _acks_late(self) -> cython.bint:
        """Nothing was sent in the last millisecond, or the next ACK is far away."""
        age_us: cython.longlong = self.timer.now_us - self.board.sent_us_of(self.board.head)
        return self.timer.now_us - self.last_sent_us > _MS_US or age_us < self.timer.rtt.srtt >> 4

    @cython.cfunc
    def may_send_now(self) -> cython.bint:
        """Whether Nagle and the peer's window let new data go (`tcp_may_send_now` but for cwnd)."""
        length: cython.longlong = self.seq.write_seq - self.seq.snd_nxt
        if length <= 0:
            return False
        if length > self.seq.mss:
            length = self.seq.mss
        if length > self.seq.window_left():
            return False
        return length == self.seq.mss or length >= self.nagle_limit or not self._holds_back()

    def stage(
        self,
        queue: SkbQueue,
        cpu: Cpu,
        now_jiffy: cython.longlong,
    ) -> cython.longlong:
        """`tcp_write_xmit`: append the segments that may go now to `queue`.

        `cpu` makes them (None where CPUs are not told apart); whom they are for is written on them
        when they leave. Returns how many frames the stack handles: with TSO one of them is cut into
        several segments by the NIC.
        """
        frames: cython.longlong = 0
        large: cython.int
        length: cython.longlong
        prior_nxt: cython.longlong = self.seq.snd_nxt
        alone: cython.bint = self.board.head == self.board.tail
        if self.small_queue is not None:
            self.small_queue.staged = 0
            self.tail_joins = False
        if self.recovery.retransmitting or self.timer.resends_head:
            frames = self._stage_again(queue, cpu, now_jiffy)
        while True:
            large = self.burst_left
            self.deferred_limited = False
            length = self._next_segment(now_jiffy)
            if length == 0:
                if self.validation.limited_when_sent:
                    self.validation.note_limit(prior_nxt, self.deferred_limited)
                if self.sacks is not None:
                    frames += self._sent_with_sack(prior_nxt, alone, queue, cpu, now_jiffy)
                if self.unsent_jiffy != NONE or self.seq.write_seq > self.seq.snd_nxt:
                    self._note_unsent(prior_nxt, now_jiffy)
                return frames
            self.begins = large == 0 and not self.joined
            self._send(queue, cpu, length, now_jiffy)
            if self.begins:
                frames += 1

    def _note_unsent(self, prior_nxt: cython.longlong, now_jiffy: cython.longlong) -> cython.int:
        """Since when data wait to be sent; what waited and has been sent may have stalled."""
        waited: cython.longlong
        if self.unsent_jiffy != NONE and self.seq.snd_nxt > prior_nxt:
            waited = now_jiffy - self.unsent_jiffy
            if waited > 1:
                self.stalls += 1
                self.stalled_jiffies += waited
            self.unsent_jiffy = NONE
        if self.unsent_jiffy == NONE and self.seq.write_seq > self.seq.snd_nxt:
            self.unsent_jiffy = now_jiffy
        return 0

    def _send(
        self,
        queue: SkbQueue,
        cpu: Cpu,
        length: cython.longlong,
        now_jiffy: cython.longlong,
    ) -> cython.int:
        """The segment of `length` bytes at `snd_nxt` goes out for the first time."""
        out: cython.longlong = self.board.tail - self.board.head
        push: cython.bint
        end_seq: cython.longlong
        self.validation.segment_sent(out, now_jiffy)
        push = self.seq.sent(length)
        end_seq = self.seq.snd_nxt
        if out == 0:
            self.timer.first_sent(now_jiffy)
        if self.congestion.controls and self.board.in_flight() == 0:
            self.congestion.first_sent(self.timer.now_us, now_jiffy)
        sent_us: cython.longlong = self.timer.now_us
        if self.small_queue is not None and (self.small_queue.paces or self.small_queue.timed):
            sent_us = (
                self.small_queue.departs(length, sent_us * _US_PS, self.begins, self.segments)
                // _US_PS
            )
        self.board.append(end_seq, now_jiffy, sent_us)
        if self.congestion.controls:
            self.congestion.rate.sent(self.board.tail - 1, self.board.head, out == 0, sent_us)
        self.segments += 1
        if length < self.seq.mss:
            self.small_end = end_seq
        if self.recovery.state != OPEN:
            self.recovery.sent()
        return self._append(queue, cpu, end_seq - length, end_seq, push, True, now_jiffy)

    def _append(
        self,
        queue: SkbQueue,
        cpu: Cpu,
        seq: cython.longlong,
        end_seq: cython.longlong,
        push: cython.bint,
        fresh: cython.bint,
        now_jiffy: cython.longlong,
    ) -> cython.int:
        """Make a segment and put it into a queue."""
        skb: Skb
        size: cython.longlong = self.overhead_bytes + end_seq - seq
        if size < LEAST_WIRE_BYTES:
            size = LEAST_WIRE_BYTES
        skb = new_skb(None, seq, end_seq, 0, 0, size, push)
        skb.toucher = cpu
        if self.ecn is not None:
            skb.ecn = self.ecn.may_be_marked(fresh)
        if self.small_queue is not None:
            if self.small_queue.paces:
                skb.arrival_ps = self.small_queue.depart_ps
            self.small_queue.staged += self.small_queue.truesize(end_seq - seq, self.seq.mss)
        if self.timer.rtt.fine:
            self.last_sent_us = self.timer.now_us
            if self.timestamps:
                skb.tsval = self.timer.now_us // 1000
        elif self.timestamps:
            skb.tsval = now_jiffy
        queue.append(skb)
        return 0

    @cython.cfunc
    def timed_out(self) -> cython.int:
        """What the NIC would still have cut from the last frame is sent again, one by one."""
        self.burst_left = 0
        return 0

    # -- what is sent again ---------------------------------------------------------------

    def _stage_again(
        self,
        queue: SkbQueue,
        cpu: Cpu,
        now_jiffy: cython.longlong,
    ) -> cython.longlong:
        """`tcp_xmit_retransmit_queue`."""
        frames: cython.longlong = 0
        number: cython.longlong
        start: cython.longlong
        if self.timer.take_loss_probe():
            return self._stage_loss_probe(queue, cpu, now_jiffy)
        self.recovery.resending()
        while self.board.tail > self.board.head:
            if self.timer.take_head():
                number = self.board.head
            elif self.small_queue is not None and self.small_queue.waits(self.timer.now_us):
                self.recovery.goes_on()
                break
            else:
                number = self.recovery.next_retransmission(self.may_send_now())
            if number == NONE:
                break
            start = self._start_of(number)
            if start >= self.seq.snd_una + self.seq.snd_wnd and start != self.seq.snd_una:
                # the peer has taken its window back
                break
            if self.congestion.controls:
                self._paced(self.board.end_of(number) - start)
            self._append(
                queue,
                cpu,
                start,
                self.board.end_of(number),
                False,
                False,
                now_jiffy,
            )
            frames += 1
            self.retransmissions += 1
            self.recovery.resent(number, now_jiffy)
            if number == self.board.head:
                self.timer.head_resent(now_jiffy)
        self.timer.handled(now_jiffy)
        return frames

    def _paced(self, length: cython.longlong) -> cython.int:
        """A segment that is sent again takes its time at the pacing rate, too."""
        queue: SmallQueue = self.small_queue
        if queue.paces or queue.timed:
            queue.departs(length, self.timer.now_us * _US_PS, True, self.segments)
        return 0

    def _start_of(self, number: cython.longlong) -> cython.longlong:
        """First byte of a segment that is to be sent again."""
        return self.seq.snd_una if number == self.board.head else self.board.end_of(number - 1)

    def _sent_with_sack(
        self,
        prior_nxt: cython.longlong,
        alone: cython.bint,
        queue: SkbQueue,
        cpu: Cpu,
        now_jiffy: cython.longlong,
    ) -> cython.longlong:
        """What `tcp_write_xmit` does last; return how many frames were sent again."""
        if self.sacks.new_first and self.seq.snd_nxt == prior_nxt:
            self.sacks.nothing_new()
            return self._stage_again(queue, cpu, now_jiffy)
        if self.seq.snd_nxt != prior_nxt:
            self.sacks.sent_new(alone, now_jiffy)
        return 0

    def _stage_loss_probe(
        self,
        queue: SkbQueue,
        cpu: Cpu,
        now_jiffy: cython.longlong,
    ) -> cython.longlong:
        """`tcp_send_loss_probe`: a new segment whatever the window, or the last one again."""
        length: cython.longlong = min(self.seq.write_seq - self.seq.snd_nxt, self.seq.mss)
        fresh: cython.bint = 0 < length <= self.seq.window_left()
        if self.sacks.tags.probe_end != NONE or self.board.head == self.board.tail:
            self.timer.rearm(now_jiffy)
            return 0
        if fresh:
            self._send(queue, cpu, length, now_jiffy)
        else:
            self._append(
                queue,
                cpu,
                self._start_of(self.board.tail - 1),
                self.seq.snd_nxt,
                self.seq.last_pushed(),
                False,
                now_jiffy,
            )
            self.retransmissions += 1
        self.sacks.probed(fresh, now_jiffy)
        return 1

    def stage_probe(self, queue: SkbQueue, cpu: Cpu) -> cython.bint:
        """`tcp_xmit_probe_skb` if `probing`: old data, whose answer tells the window."""
        if not self.timer.take_probe():
            return False
        self._append(queue, cpu, self.seq.snd_una - 1, self.seq.snd_una, False, False, NONE)
        return True
