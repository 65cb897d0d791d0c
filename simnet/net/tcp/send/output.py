"""What a sender sends: Nagle, TSO deferral, new segments, what is sent again; use of the window.

Source: net/ipv4/tcp_output.c (`tcp_write_xmit`, `tcp_nagle_check` with Minshall's rule,
`tcp_tso_should_defer`, `tcp_xmit_retransmit_queue`, `tcp_send_loss_probe`, `tcp_xmit_probe_skb`,
`tcp_cwnd_validate`, `tcp_cwnd_application_limited`, `tcp_cwnd_restart`), tcp_cong.c and
include/net/tcp.h (`tcp_is_cwnd_limited`); RFC 2861.
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.net.link.skb import Endpoint, Skb, SkbQueue, new_skb
from simnet.net.tcp.congestion.control import Congestion
from simnet.net.tcp.recovery.recovery import Recovery
from simnet.net.tcp.recovery.sack_recovery import SackRecovery
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.net.tcp.rules.sender_version import SenderRules
from simnet.net.tcp.send.sequence import SendSequence
from simnet.net.tcp.send.timer import SendTimer

__all__ = ["SendOutput"]

_NONE = cython.declare(cython.longlong, -1)
_FAR = cython.declare(cython.longlong, 1 << 62)
_TSO_BYTES = cython.declare(cython.longlong, 65536)
_MIN_WIRE_BYTES = cython.declare(cython.int, 84)
_MAX_BURST = cython.declare(cython.longlong, 3)
_MS_US = cython.declare(cython.longlong, 1000)
_OPEN = cython.declare(cython.int, 0)


@cython.no_gc
@cython.cclass
class SendOutput:
    """What one connection sends.

    Args:
        recovery: its state, with its segments, its window and its timer.
        rules: of the kernel's version.
        tso: the NIC segments.
        tso_win_divisor: tcp_tso_win_divisor.
        restarts: tcp_slow_start_after_idle.
        timestamps: segments carry the timestamps option.

    Attributes:
        nodelay, cork: TCP_NODELAY and TCP_CORK.
        nagle_limit: Nagle's algorithm holds no longer segment back.
        burst_left: segments that the NIC will still cut from the last frame.
        segments: sent for the first time; `retransmissions` come on top.
    """

    def __init__(
        self,
        recovery: Recovery,
        rules: SenderRules,
        *,
        tso: bool,
        tso_win_divisor: int,
        restarts: bool,
        timestamps: bool,
    ) -> None:
        self.recovery = recovery
        self.sacks: SackRecovery | None = recovery if isinstance(recovery, SackRecovery) else None
        self.tso = tso
        self.tso_win_divisor = tso_win_divisor
        self.timestamps = timestamps
        self.defers_two_ticks = rules.defers_two_ticks
        self.defers_briefly = rules.defers_briefly
        self.minshall = rules.minshall
        self.nodelay = False
        self.cork = False
        self.nagle_limit = _FAR
        self.small_end = 0
        self.burst_left = 0
        self.deferred_jiffy = _NONE
        self.deferred_limited = False
        self.last_sent_us = 0
        self.segments = 0
        self.retransmissions = 0
        self.restarts = restarts
        self.near_limit = rules.near_limit
        self.limited_when_sent = rules.limited_when_sent
        self.keeps_limit = rules.keeps_limit
        self.initial_cwnd = recovery.congestion.cwnd
        self.cwnd_used = 0
        self.cwnd_jiffy = 0
        self.last_sent_jiffy = 0
        self.cwnd_limited = False
        self.max_packets_out = 0
        self.usage_seq = 0

    @cython.ccall
    @cython.exceptval(-1)
    def next_segment(self, now_jiffy: cython.longlong) -> cython.longlong:
        """Payload of the next segment that may be sent now for the first time; 0 if none may."""
        seq: SendSequence = self.recovery.seq
        timer: SendTimer = self.recovery.timer
        length: cython.longlong = seq.write_seq - seq.snd_nxt
        window: cython.longlong = seq.window_left()
        free: cython.longlong = 0
        if length > 0:
            free = self.recovery.congestion.cwnd - self.recovery.board.in_flight()
        if free <= 0:
            return 0
        if length > seq.mss:
            length = seq.mss
        if length > window:
            if window <= 0 or not timer.take_probe():
                return 0
            # tcp_write_wakeup: as much as the window takes
            seq.push(seq.snd_nxt + window)
            return window
        if length < seq.mss:
            if length < self.nagle_limit and self.holds_back() and not timer.take_probe():
                return 0
        elif self.tso:
            if self.burst_left > 0:
                self.burst_left -= 1
            elif self._defers(free, window, now_jiffy):
                return 0
        return length

    @cython.ccall
    @cython.exceptval(-1)
    def holds_back(self) -> cython.bint:
        """`tcp_nagle_check`: a small segment waits for more data, or for a small one's ACK."""
        board: Scoreboard = self.recovery.board
        if self.cork:
            return True
        return (
            not self.nodelay
            and board.tail > board.head
            and (self.small_end > self.recovery.seq.snd_una or not self.minshall)
        )

    @cython.cfunc
    @cython.exceptval(-1)
    def _defers(
        self, free: cython.longlong, window: cython.longlong, now_jiffy: cython.longlong
    ) -> cython.bint:
        """`tcp_tso_should_defer`, once for a frame that the NIC will cut into segments."""
        seq: SendSequence = self.recovery.seq
        board: Scoreboard = self.recovery.board
        chunk: cython.longlong
        segments: cython.longlong = free
        free *= seq.mss
        self.deferred_limited = free <= window
        if window < free:
            free = window
        if (
            self.recovery.state == _OPEN
            and free < _TSO_BYTES
            and board.tail > board.head
            and not (self.defers_briefly and self._acks_late())
            and not (
                self.defers_two_ticks
                and self.deferred_jiffy != _NONE
                and now_jiffy - self.deferred_jiffy > 1
            )
        ):
            if self.tso_win_divisor > 0:
                chunk = self.recovery.congestion.cwnd * seq.mss
                if seq.snd_wnd < chunk:
                    chunk = seq.snd_wnd
                if free < chunk // self.tso_win_divisor:
                    if self.deferred_jiffy == _NONE:
                        self.deferred_jiffy = now_jiffy
                    return True
            elif seq.write_seq - seq.snd_nxt > free and segments <= _MAX_BURST:
                return True
        self.deferred_jiffy = _NONE
        if seq.write_seq - seq.snd_nxt < free:
            free = seq.write_seq - seq.snd_nxt
        if free > _TSO_BYTES:
            free = _TSO_BYTES
        self.burst_left = free // seq.mss - 1
        return False

    @cython.cfunc
    @cython.exceptval(-1)
    def _acks_late(self) -> cython.bint:
        """Nothing was sent in the last millisecond, or the next ACK is far away."""
        board: Scoreboard = self.recovery.board
        timer: SendTimer = self.recovery.timer
        age_us: cython.longlong = timer.now_us - board.sent_us_of(board.head)
        return timer.now_us - self.last_sent_us > _MS_US or age_us < timer.rtt.srtt >> 4

    @cython.ccall
    @cython.exceptval(-1)
    def may_send_now(self) -> cython.bint:
        """Whether Nagle and the peer's window let new data go (`tcp_may_send_now` but for cwnd)."""
        seq: SendSequence = self.recovery.seq
        length: cython.longlong = seq.write_seq - seq.snd_nxt
        if length <= 0:
            return False
        if length > seq.mss:
            length = seq.mss
        if length > seq.window_left():
            return False
        return length == seq.mss or length >= self.nagle_limit or not self.holds_back()

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def sent(self, length: cython.longlong, now_jiffy: cython.longlong) -> cython.int:
        """A segment of `length` bytes at `snd_nxt` has been given to the NIC."""
        seq: SendSequence = self.recovery.seq
        board: Scoreboard = self.recovery.board
        timer: SendTimer = self.recovery.timer
        out: cython.longlong = board.tail - board.head
        self._validate(out, now_jiffy)
        if out == 0:
            timer.first_sent(now_jiffy)
        seq.sent(length)
        board.append(seq.snd_nxt, now_jiffy, timer.now_us)
        self.segments += 1
        if length < seq.mss:
            self.small_end = seq.snd_nxt
        if self.recovery.state != _OPEN:
            self.recovery.sent()
        return 0

    @cython.ccall
    @cython.exceptval(-1)
    def stage(
        self,
        queue: SkbQueue,
        remote: Endpoint,
        overhead_bytes: cython.int,
        cpu: Cpu,
        now_jiffy: cython.longlong,
    ) -> cython.longlong:
        """`tcp_write_xmit`: append the segments that may go now to `queue`, for `remote`.

        `cpu` makes them (None where CPUs are not told apart); `overhead_bytes` is what a segment
        takes on the wire beyond its payload. Returns how many frames the stack handles: with TSO
        one of them is cut into several segments by the NIC.
        """
        seq: SendSequence = self.recovery.seq
        board: Scoreboard = self.recovery.board
        frames: cython.longlong = 0
        large: cython.int
        length: cython.longlong
        prior_nxt: cython.longlong = seq.snd_nxt
        alone: cython.bint = board.head == board.tail
        if self.recovery.retransmitting or self.recovery.timer.resends_head:
            frames = self._stage_again(queue, remote, overhead_bytes, cpu, now_jiffy)
        while True:
            large = self.burst_left
            self.deferred_limited = False
            length = self.next_segment(now_jiffy)
            if length == 0:
                if self.limited_when_sent:
                    self._note_limit(prior_nxt)
                if self.sacks is not None:
                    frames += self._sent_with_sack(
                        prior_nxt, alone, queue, remote, overhead_bytes, cpu, now_jiffy
                    )
                return frames
            self.sent(length, now_jiffy)
            self._append(
                queue,
                remote,
                overhead_bytes,
                cpu,
                seq.snd_nxt - length,
                seq.snd_nxt,
                seq.last_pushed(),
                now_jiffy,
            )
            if large == 0:
                frames += 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _append(
        self,
        queue: SkbQueue,
        remote: Endpoint,
        overhead_bytes: cython.int,
        cpu: Cpu,
        seq: cython.longlong,
        end_seq: cython.longlong,
        push: cython.bint,
        now_jiffy: cython.longlong,
    ) -> cython.int:
        timer: SendTimer = self.recovery.timer
        skb: Skb
        size: cython.longlong = overhead_bytes + end_seq - seq
        if size < _MIN_WIRE_BYTES:
            size = _MIN_WIRE_BYTES
        skb = new_skb(remote, seq, end_seq, 0, 0, size, push)
        skb.toucher = cpu
        if timer.rtt.fine:
            self.last_sent_us = timer.now_us
            if self.timestamps:
                skb.tsval = timer.now_us // 1000
        elif self.timestamps:
            skb.tsval = now_jiffy
        queue.append(skb)
        return 0

    # -- what is sent again ---------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1)
    def _stage_again(
        self,
        queue: SkbQueue,
        remote: Endpoint,
        overhead_bytes: cython.int,
        cpu: Cpu,
        now_jiffy: cython.longlong,
    ) -> cython.longlong:
        """`tcp_xmit_retransmit_queue`."""
        seq: SendSequence = self.recovery.seq
        board: Scoreboard = self.recovery.board
        timer: SendTimer = self.recovery.timer
        frames: cython.longlong = 0
        number: cython.longlong
        start: cython.longlong
        if timer.take_loss_probe():
            return self._stage_loss_probe(queue, remote, overhead_bytes, cpu, now_jiffy)
        self.recovery.resending()
        while board.tail > board.head:
            if timer.take_head():
                number = board.head
            else:
                number = self.recovery.next_retransmission(self.may_send_now())
            if number == _NONE:
                break
            start = self._start_of(number)
            if start >= seq.snd_una + seq.snd_wnd and start != seq.snd_una:
                # the peer has taken its window back
                break
            self._append(
                queue, remote, overhead_bytes, cpu, start, board.end_of(number), False, now_jiffy
            )
            frames += 1
            self.retransmissions += 1
            self.recovery.resent(number, now_jiffy)
            if number == board.head:
                timer.head_resent(now_jiffy)
        timer.handled(now_jiffy)
        return frames

    @cython.cfunc
    @cython.exceptval(-1)
    def _start_of(self, number: cython.longlong) -> cython.longlong:
        """First byte of a segment that is to be sent again."""
        board: Scoreboard = self.recovery.board
        return self.recovery.seq.snd_una if number == board.head else board.end_of(number - 1)

    @cython.cfunc
    @cython.exceptval(-1)
    def _sent_with_sack(
        self,
        prior_nxt: cython.longlong,
        alone: cython.bint,
        queue: SkbQueue,
        remote: Endpoint,
        overhead_bytes: cython.int,
        cpu: Cpu,
        now_jiffy: cython.longlong,
    ) -> cython.longlong:
        """What `tcp_write_xmit` does last; return how many frames were sent again."""
        seq: SendSequence = self.recovery.seq
        if self.sacks.new_first and seq.snd_nxt == prior_nxt:
            self.sacks.nothing_new()
            return self._stage_again(queue, remote, overhead_bytes, cpu, now_jiffy)
        if seq.snd_nxt != prior_nxt:
            self.sacks.sent_new(alone, now_jiffy)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _stage_loss_probe(
        self,
        queue: SkbQueue,
        remote: Endpoint,
        overhead_bytes: cython.int,
        cpu: Cpu,
        now_jiffy: cython.longlong,
    ) -> cython.longlong:
        """`tcp_send_loss_probe`: a new segment whatever the window, or the last one again."""
        seq: SendSequence = self.recovery.seq
        board: Scoreboard = self.recovery.board
        length: cython.longlong = min(seq.write_seq - seq.snd_nxt, seq.mss)
        fresh: cython.bint = 0 < length <= seq.window_left()
        start: cython.longlong = seq.snd_nxt
        if self.sacks.tags.probe_end != _NONE or board.head == board.tail:
            self.recovery.timer.rearm(now_jiffy)
            return 0
        if fresh:
            self.sent(length, now_jiffy)
        else:
            start = self._start_of(board.tail - 1)
            self.retransmissions += 1
        self.sacks.probed(fresh, now_jiffy)
        self._append(
            queue,
            remote,
            overhead_bytes,
            cpu,
            start,
            seq.snd_nxt,
            seq.last_pushed(),
            now_jiffy,
        )
        return 1

    @cython.ccall
    @cython.exceptval(-1)
    def stage_probe(
        self, queue: SkbQueue, remote: Endpoint, overhead_bytes: cython.int, cpu: Cpu
    ) -> cython.bint:
        """`tcp_xmit_probe_skb` if `probing`: old data, whose answer tells the window."""
        seq: SendSequence = self.recovery.seq
        if not self.recovery.timer.take_probe():
            return False
        self._append(queue, remote, overhead_bytes, cpu, seq.snd_una - 1, seq.snd_una, False, _NONE)
        return True

    # -- use of the congestion window -------------------------------------------------------

    @cython.ccall
    @cython.exceptval(-1)
    def limited(self, flight: cython.longlong) -> cython.bint:
        """`tcp_is_cwnd_limited`."""
        congestion: Congestion = self.recovery.congestion
        left: cython.longlong = congestion.cwnd - flight
        if self.limited_when_sent:
            if congestion.in_slow_start() and not (self.keeps_limit and self.cwnd_limited):
                return congestion.cwnd < 2 * self.max_packets_out
            return self.cwnd_limited
        if left <= 0:
            return True
        if self.tso:
            if self.tso_win_divisor > 0 and left * self.tso_win_divisor < congestion.cwnd:
                return not self.near_limit or left * self.recovery.seq.mss < _TSO_BYTES
            return (self.tso_win_divisor == 0 or self.near_limit) and left <= _MAX_BURST
        return self.near_limit and left <= _MAX_BURST

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _note_limit(self, prior_nxt: cython.longlong) -> cython.int:
        """`tcp_cwnd_validate` of 3.16 and later, after `tcp_write_xmit`."""
        seq: SendSequence = self.recovery.seq
        board: Scoreboard = self.recovery.board
        out: cython.longlong = board.tail - board.head
        limited: cython.bint = (
            self.deferred_limited or board.in_flight() >= self.recovery.congestion.cwnd
        )
        if seq.snd_nxt == prior_nxt and not limited:
            return 0
        if (
            seq.snd_una >= self.usage_seq
            or (limited and self.keeps_limit)
            or (out > self.max_packets_out and not (self.cwnd_limited and self.keeps_limit))
        ):
            self.cwnd_limited = limited
            self.max_packets_out = out
            self.usage_seq = seq.snd_nxt
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _validate(self, out: cython.longlong, now_jiffy: cython.longlong) -> cython.int:
        """`tcp_cwnd_validate`: a segment is sent while `out` are on their way."""
        if (
            out == 0
            and self.restarts
            and now_jiffy - self.last_sent_jiffy > self.recovery.timer.rto
            and self.recovery.seq.snd_nxt > 0
        ):
            self._restart(now_jiffy)
        self.last_sent_jiffy = now_jiffy
        out += 1
        if out >= self.recovery.congestion.cwnd:
            self.cwnd_used = 0
            self.cwnd_jiffy = now_jiffy
        else:
            if out > self.cwnd_used:
                self.cwnd_used = out
            if now_jiffy - self.cwnd_jiffy >= self.recovery.timer.rto:
                self._application_limited(now_jiffy)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _application_limited(self, now_jiffy: cython.longlong) -> cython.int:
        """`tcp_cwnd_application_limited`: the window that is not used decays (RFC 2861)."""
        congestion: Congestion = self.recovery.congestion
        used: cython.longlong = self.cwnd_used
        if self.recovery.state == _OPEN and not self.recovery.seq.no_space:
            if used < self.initial_cwnd:
                used = self.initial_cwnd
            if used < congestion.cwnd:
                congestion.set_threshold(self.recovery.current_ssthresh())
                congestion.set_window((congestion.cwnd + used) >> 1)
            self.cwnd_used = 0
        self.cwnd_jiffy = now_jiffy
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _restart(self, now_jiffy: cython.longlong) -> cython.int:
        """`tcp_cwnd_restart`: half the window for every timeout that the connection was idle."""
        congestion: Congestion = self.recovery.congestion
        rto: cython.longlong = self.recovery.timer.rto
        idle: cython.longlong = now_jiffy - self.last_sent_jiffy - rto
        cwnd: cython.longlong = congestion.cwnd
        least: cython.longlong = self.initial_cwnd if self.initial_cwnd < cwnd else cwnd
        congestion.set_threshold(self.recovery.current_ssthresh())
        while idle > 0 and cwnd > least:
            cwnd >>= 1
            idle -= rto
        congestion.set_window(cwnd if cwnd > least else least)
        self.cwnd_jiffy = now_jiffy
        self.cwnd_used = 0
        return 0
