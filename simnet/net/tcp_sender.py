"""TCP sender of Linux: windows, Nagle, TSO deferral, send buffer, round-trip times.

Sources: net/ipv4/tcp.c (`tcp_sendmsg`, `forced_push`), tcp_output.c (`tcp_write_xmit`,
`tcp_nagle_check` with Minshall's rule, `tcp_tso_should_defer`, `tcp_cwnd_validate`,
`tcp_cwnd_restart`), tcp_input.c (`tcp_ack`, `tcp_rtt_estimator`, `tcp_new_space`), tcp_timer.c.
What is lost and what that does to the window is in `tcp_scoreboard` and `tcp_recovery`.
Times are jiffies of the sending host, lengths bytes; sequence numbers do not wrap.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.host.cpu import Cpu
from simnet.net.congestion import Congestion
from simnet.net.skb import Endpoint, Skb, SkbQueue, new_skb
from simnet.net.tcp_ecn import Ecn
from simnet.net.tcp_newreno import NewReno
from simnet.net.tcp_recovery import Recovery
from simnet.net.tcp_rtt import RttEstimator
from simnet.net.tcp_sack_recovery import SackRecovery
from simnet.net.tcp_scoreboard import Scoreboard
from simnet.net.tcp_sender_rules import SenderRules

__all__ = ["TcpSender"]

_NONE = cython.declare(cython.longlong, -1)
_TSO_BYTES = cython.declare(cython.longlong, 65536)
_RETRIES2 = cython.declare(cython.int, 15)
_MIN_WIRE_BYTES = cython.declare(cython.int, 84)
# TCP and IP headers and the least payload that every host takes
_MIN_DATAGRAM_BYTES = cython.declare(cython.int, 68)
_HEADER = cython.declare(cython.int, 20)
_TIMESTAMPS_HEADER = cython.declare(cython.int, 32)
_MAX_BURST = cython.declare(cython.longlong, 3)
_MS_US = cython.declare(cython.longlong, 1000)
_OPEN = cython.declare(cython.int, 0)
_RECOVERY = cython.declare(cython.int, 3)
_LOSS = cython.declare(cython.int, 4)
# what the timer is set for: the retransmission timeout or a window probe, or
_PROBE = cython.declare(cython.int, 1)
_REORDERING = cython.declare(cython.int, 2)


@cython.final
@cython.no_gc
@cython.cclass
class TcpSender:
    """Sending half of a connection.

    Args:
        mss: payload of a full segment.
        congestion: algorithm with its initial window.
        wmem_default, wmem_max: tcp_wmem[1] and [2].
        segment_truesize: send-buffer memory of one full segment.
        jiffy_ps: length of a jiffy.
        rto_min_ps, rto_init_ps, rto_max_ps: bounds of the retransmission timeout.
        tso: the NIC segments.
        tso_win_divisor: tcp_tso_win_divisor.
        reordering: tcp_reordering, the duplicate-ACK threshold.
        sack: the connection uses SACK.
        rules: of the kernel's version; None for 2.6.18.
        restarts: tcp_slow_start_after_idle.
        timestamps: segments carry the timestamps option.

    Attributes:
        mss: payload of a full segment, which may be half of the peer's window.
        board: segments that are not acknowledged.
        recovery: what losses have done.
        sacks: with SACK in 4.18 and later, what ACKs and timers do to it; else None.
        rtt: round-trip times where they are measured in microseconds; else None.
        pending: what `rto_jiffy` is for: 0 a timeout or a window probe, 1 a loss probe, 2 the
            reordering window of RACK.
        nodelay, cork: TCP_NODELAY and TCP_CORK.
        probing: a window probe is to be sent.
        now_us: time of what is being handled, for algorithms with `Congestion.wants_us`.
        segments: sent for the first time; `retransmissions` and `timeouts` come on top.
    """

    snd_una: cython.longlong
    snd_nxt: cython.longlong
    write_seq: cython.longlong
    snd_wnd: cython.longlong
    max_window: cython.longlong
    sndbuf: cython.longlong
    mss: cython.longlong
    path_mss: cython.longlong
    half_window: cython.bint
    whole_window_bytes: cython.longlong
    least_mss: cython.longlong
    congestion: Congestion
    board: Scoreboard
    recovery: Recovery
    newreno: NewReno | None
    sacks: SackRecovery | None
    rtt: RttEstimator | None
    pending: cython.int
    expired: cython.int
    sack: cython.bint
    nodelay: cython.bint
    cork: cython.bint
    tso: cython.bint
    wmem_max: cython.longlong
    segment_truesize: cython.longlong
    pushed_seq: cython.longlong
    small_end: cython.longlong
    jiffy_ps: cython.longlong
    rto_min: cython.longlong
    rto_max: cython.longlong
    srtt: cython.longlong
    mdev: cython.longlong
    mdev_max: cython.longlong
    rttvar: cython.longlong
    rtt_seq: cython.longlong
    rto: cython.longlong
    backoff: cython.int
    rto_jiffy: cython.longlong
    last_sent_jiffy: cython.longlong
    initial_cwnd: cython.longlong
    cwnd_used: cython.longlong
    cwnd_jiffy: cython.longlong
    no_space: cython.bint
    restarts: cython.bint
    timestamps: cython.bint
    near_limit: cython.bint
    limited_when_sent: cython.bint
    keeps_limit: cython.bint
    cwnd_limited: cython.bint
    deferred_limited: cython.bint
    max_packets_out: cython.longlong
    usage_seq: cython.longlong
    defers_two_ticks: cython.bint
    defers_briefly: cython.bint
    last_sent_us: cython.longlong
    deferred_jiffy: cython.longlong
    force_head: cython.bint
    now_us: cython.longlong
    tso_win_divisor: cython.int
    burst_left: cython.int
    probing: cython.bint
    retransmissions: cython.longlong
    timeouts: cython.longlong
    segments: cython.longlong
    minshall: cython.bint
    nagle_limit: cython.longlong

    def __init__(
        self,
        *,
        mss: int,
        congestion: Congestion,
        wmem_default: int,
        wmem_max: int,
        segment_truesize: int,
        jiffy_ps: int,
        rto_min_ps: int,
        rto_init_ps: int,
        rto_max_ps: int,
        tso: bool,
        tso_win_divisor: int,
        reordering: int,
        sack: bool = False,
        rules: SenderRules | None = None,
        restarts: bool = True,
        timestamps: bool = False,
    ) -> None:
        rules = rules or SenderRules()
        self.mss = mss
        self.path_mss = mss
        self.half_window = rules.half_window
        self.whole_window_bytes = rules.whole_window_bytes
        self.least_mss = _MIN_DATAGRAM_BYTES - (_TIMESTAMPS_HEADER if timestamps else _HEADER)
        self.congestion = congestion
        self.sndbuf = wmem_default
        self.wmem_max = wmem_max
        self.segment_truesize = segment_truesize
        self.jiffy_ps = jiffy_ps
        self.rto_min = -(-rto_min_ps // jiffy_ps)
        self.rto_max = -(-rto_max_ps // jiffy_ps)
        self.rto = -(-rto_init_ps // jiffy_ps)
        self.tso = tso
        self.tso_win_divisor = tso_win_divisor
        self.sack = sack
        self.board = Scoreboard(rules, sack=sack, reordering=reordering, mss=mss)
        self.recovery = Recovery(rules, self.board, congestion)
        self.newreno = NewReno(self.recovery) if rules.newreno and not sack else None
        self._measure_us(rules, rto_min_ps, rto_max_ps)
        self._watch_use(rules)
        self.defers_two_ticks = rules.defers_two_ticks
        self.defers_briefly = rules.defers_briefly
        self.restarts = restarts
        self.timestamps = timestamps
        self.nodelay = False
        self.cork = False
        self.minshall = rules.minshall
        self.nagle_limit = mss
        self.snd_una = 0
        self.snd_nxt = 0
        self.write_seq = 0
        self.snd_wnd = 0
        self.max_window = 0
        self.pushed_seq = 0
        self.small_end = 0
        self.srtt = 0
        self.mdev = 0
        self.mdev_max = 0
        self.rttvar = 0
        self.rtt_seq = 0
        self.backoff = 0
        self.rto_jiffy = _NONE
        self.probing = False
        self.last_sent_jiffy = 0
        self.initial_cwnd = congestion.cwnd
        self.cwnd_used = 0
        self.cwnd_jiffy = 0
        self.no_space = False
        self.deferred_jiffy = _NONE
        self.force_head = False
        self.now_us = 0
        self.burst_left = 0
        self.retransmissions = 0
        self.timeouts = 0
        self.segments = 0

    def _measure_us(self, rules: SenderRules, rto_min_ps: int, rto_max_ps: int) -> None:
        """What needs a clock finer than jiffies."""
        self.rtt = None
        self.sacks = None
        self.pending = 0
        self.expired = 0
        self.last_sent_us = 0
        if rules.clock_us:
            self.congestion.wants_us = True
            self.rtt = RttEstimator(self.jiffy_ps, rto_min_ps, rto_max_ps)
            if rules.rack and self.sack:
                self.sacks = SackRecovery(self.recovery, self.rtt, self.rto, rules.rack_margin_us)

    def _watch_use(self, rules: SenderRules) -> None:
        """How it is known whether the window limits."""
        self.near_limit = rules.near_limit
        self.limited_when_sent = rules.limited_when_sent
        self.keeps_limit = rules.keeps_limit
        self.cwnd_limited = False
        self.deferred_limited = False
        self.max_packets_out = 0
        self.usage_seq = 0

    def use_ecn(self, ecn: Ecn) -> None:
        """The connection has agreed on ECN; what is done about marks is that of 4.18 and later."""
        states = self.sacks or self.newreno
        if states is not None:
            states.ecn = ecn

    def echoed(self, echo: bool) -> None:  # noqa: FBT001 - a bit of a header
        """The ACK that is handled next echoes a mark, or not (ECE)."""
        states = self.sacks or self.newreno
        if states is not None and states.ecn is not None:
            states.echo = echo

    def measured(self, rtt_us: int) -> None:
        """The handshake has told the round-trip time (`tcp_synack_rtt_meas`)."""
        if self.rtt is not None:
            self._take_rtt(rtt_us)

    def open_window(self, window: int) -> None:
        """The peer's SYN offers `window` bytes."""
        self.snd_wnd = window
        self.max_window = window
        self._sync_mss()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _sync_mss(self) -> cython.int:
        """`tcp_sync_mss`: bound segments by half of the largest window seen."""
        cutoff: cython.longlong = self.max_window
        mss: cython.longlong = self.path_mss
        if not self.half_window or cutoff <= 0:
            return 0
        if cutoff >= self.whole_window_bytes:
            cutoff >>= 1
        if mss > cutoff:
            mss = max(cutoff, self.least_mss)
        if mss == self.mss:
            return 0
        if self.nagle_limit == self.mss:
            self.nagle_limit = mss
        self.segment_truesize += mss - self.mss
        self.mss = mss
        self.board.mss = mss
        self.congestion.mss = mss
        return 0

    @cython.ccall
    @cython.exceptval(-1)
    def packets_out(self) -> cython.longlong:
        """Segments sent and not acknowledged."""
        return self.board.tail - self.board.head

    # -- send buffer ----------------------------------------------------------------------

    @cython.ccall
    @cython.exceptval(-1)
    def wmem_queued(self) -> cython.longlong:
        """Send-buffer memory in use."""
        queued: cython.longlong = self.write_seq - self.snd_una
        return (queued + self.mss - 1) // self.mss * self.segment_truesize

    @cython.ccall
    @cython.exceptval(-1)
    def room(self) -> cython.longlong:
        """Bytes that `tcp_sendmsg` takes now before it has to wait for memory."""
        queued: cython.longlong = self.wmem_queued()
        tail: cython.longlong = (self.write_seq - self.snd_una) % self.mss
        room: cython.longlong = 0
        if self.write_seq > self.snd_nxt and tail > 0:
            room = self.mss - tail
        if queued < self.sndbuf:
            segments: cython.longlong = (
                self.sndbuf - queued + self.segment_truesize - 1
            ) // self.segment_truesize
            room += segments * self.mss
        self.no_space = room == 0
        return room

    @cython.ccall
    @cython.exceptval(-1)
    def write_space(self) -> cython.bint:
        """`sk_stream_write_space`: whether a waiting writer is woken (a third is free)."""
        queued: cython.longlong = self.wmem_queued()
        grown: cython.longlong
        window: cython.longlong = self.congestion.cwnd
        if self.packets_out() < window:
            # tcp_new_space
            if window < self.board.reordering + 1:
                window = self.board.reordering + 1
            grown = 2 * window * self.segment_truesize
            if grown > self.wmem_max:
                grown = self.wmem_max
            if grown > self.sndbuf:
                self.sndbuf = grown
        if self.sndbuf - queued < queued >> 1:
            return False
        self.no_space = False
        return True

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def write(self, count: cython.longlong, end_of_send: cython.bint) -> cython.int:
        """The application's bytes have been copied into the send queue."""
        self.write_seq += count
        if end_of_send or self.write_seq - self.pushed_seq > self.max_window >> 1:
            self.pushed_seq = self.write_seq
        return 0

    # -- transmission ---------------------------------------------------------------------

    @cython.ccall
    @cython.exceptval(-1)
    def next_segment(self, now_jiffy: cython.longlong) -> cython.longlong:
        """Payload of the next segment that may be sent now for the first time; 0 if none may."""
        length: cython.longlong = self.write_seq - self.snd_nxt
        window: cython.longlong = self.snd_una + self.snd_wnd - self.snd_nxt
        free: cython.longlong = 0
        if length > 0:
            free = self.congestion.cwnd - self.board.in_flight()
        if free <= 0:
            return 0
        if length > self.mss:
            length = self.mss
        if length > window:
            if not self.probing or window <= 0:
                return 0
            # tcp_write_wakeup: as much as the window takes
            self.probing = False
            self.pushed_seq = self.snd_nxt + window
            return window
        if length < self.mss:
            if length < self.nagle_limit and self.holds_back():
                if not self.probing:
                    return 0
                self.probing = False
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
        if self.cork:
            return True
        return (
            not self.nodelay
            and self.board.tail > self.board.head
            and (self.small_end > self.snd_una or not self.minshall)
        )

    @cython.cfunc
    @cython.exceptval(-1)
    def _defers(
        self, free: cython.longlong, window: cython.longlong, now_jiffy: cython.longlong
    ) -> cython.bint:
        """`tcp_tso_should_defer`, once for a frame that the NIC will cut into segments."""
        chunk: cython.longlong
        segments: cython.longlong = free
        free *= self.mss
        self.deferred_limited = free <= window
        if window < free:
            free = window
        if (
            self.recovery.state == _OPEN
            and free < _TSO_BYTES
            and self.board.tail > self.board.head
            and not (self.defers_briefly and self._acks_late())
            and not (
                self.defers_two_ticks
                and self.deferred_jiffy != _NONE
                and now_jiffy - self.deferred_jiffy > 1
            )
        ):
            if self.tso_win_divisor > 0:
                chunk = self.congestion.cwnd * self.mss
                if self.snd_wnd < chunk:
                    chunk = self.snd_wnd
                if free < chunk // self.tso_win_divisor:
                    if self.deferred_jiffy == _NONE:
                        self.deferred_jiffy = now_jiffy
                    return True
            elif self.write_seq - self.snd_nxt > free and segments <= _MAX_BURST:
                return True
        self.deferred_jiffy = _NONE
        if self.write_seq - self.snd_nxt < free:
            free = self.write_seq - self.snd_nxt
        if free > _TSO_BYTES:
            free = _TSO_BYTES
        self.burst_left = free // self.mss - 1
        return False

    @cython.cfunc
    @cython.exceptval(-1)
    def _acks_late(self) -> cython.bint:
        """Nothing was sent in the last millisecond, or the next ACK is far away."""
        age_us: cython.longlong = self.now_us - self.board.sent_us_of(self.board.head)
        return self.now_us - self.last_sent_us > _MS_US or age_us < self.rtt.srtt_us >> 4

    @cython.ccall
    @cython.exceptval(-1)
    def may_send_now(self) -> cython.bint:
        """Whether Nagle and the peer's window let new data go (`tcp_may_send_now` but for cwnd)."""
        length: cython.longlong = self.write_seq - self.snd_nxt
        if length <= 0:
            return False
        if length > self.mss:
            length = self.mss
        if length > self.snd_una + self.snd_wnd - self.snd_nxt:
            return False
        return length == self.mss or length >= self.nagle_limit or not self.holds_back()

    @cython.ccall
    @cython.exceptval(-1)
    def last_pushed(self) -> cython.bint:
        """Whether the segment just sent carries PSH."""
        return self.snd_nxt in (self.pushed_seq, self.write_seq)

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def sent(self, length: cython.longlong, now_jiffy: cython.longlong) -> cython.int:
        """A segment of `length` bytes at `snd_nxt` has been given to the NIC."""
        board: Scoreboard = self.board
        out: cython.longlong = board.tail - board.head
        if out == 0:
            if self.restarts and now_jiffy - self.last_sent_jiffy > self.rto and self.segments > 0:
                self._restart(now_jiffy)
            # if the timer was set, then for a window probe
            self.rto_jiffy = now_jiffy + self.rto
            self.backoff = 0
            self.probing = False
        self.snd_nxt += length
        board.append(self.snd_nxt, now_jiffy, self.now_us)
        self.segments += 1
        self.last_sent_jiffy = now_jiffy
        if length < self.mss:
            self.small_end = self.snd_nxt
        if self.recovery.state != _OPEN:
            self.recovery.prr_out += 1
        # tcp_cwnd_validate
        out += 1
        if out >= self.congestion.cwnd:
            self.cwnd_used = 0
            self.cwnd_jiffy = now_jiffy
        else:
            if out > self.cwnd_used:
                self.cwnd_used = out
            if now_jiffy - self.cwnd_jiffy >= self.rto:
                self._application_limited(now_jiffy)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _restart(self, now_jiffy: cython.longlong) -> cython.int:
        """`tcp_cwnd_restart`: half the window for every timeout that the connection was idle."""
        idle: cython.longlong = now_jiffy - self.last_sent_jiffy - self.rto
        cwnd: cython.longlong = self.congestion.cwnd
        least: cython.longlong = self.initial_cwnd if self.initial_cwnd < cwnd else cwnd
        self.congestion.ssthresh = self.recovery.current_ssthresh()
        while idle > 0 and cwnd > least:
            cwnd >>= 1
            idle -= self.rto
        self.congestion.cwnd = cwnd if cwnd > least else least
        self.cwnd_jiffy = now_jiffy
        self.cwnd_used = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _application_limited(self, now_jiffy: cython.longlong) -> cython.int:
        """`tcp_cwnd_application_limited`: the window that is not used decays (RFC 2861)."""
        used: cython.longlong = self.cwnd_used
        if self.recovery.state == _OPEN and not self.no_space:
            if used < self.initial_cwnd:
                used = self.initial_cwnd
            if used < self.congestion.cwnd:
                self.congestion.ssthresh = self.recovery.current_ssthresh()
                self.congestion.cwnd = (self.congestion.cwnd + used) >> 1
            self.cwnd_used = 0
        self.cwnd_jiffy = now_jiffy
        return 0

    @cython.ccall
    @cython.exceptval(-1)
    def awaits_window(self, now_jiffy: cython.longlong) -> cython.bint:
        """`tcp_check_probe_timer`: data to send and none outstanding; then the timer is set."""
        interval: cython.longlong
        if self.write_seq == self.snd_nxt or self.board.head != self.board.tail:
            return False
        if self.rto_jiffy == _NONE:
            interval = self.rto << self.backoff
            self.rto_jiffy = now_jiffy + (interval if interval < self.rto_max else self.rto_max)
        return True

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
        frames: cython.longlong = 0
        large: cython.int
        length: cython.longlong
        prior_nxt: cython.longlong = self.snd_nxt
        alone: cython.bint = self.board.head == self.board.tail
        if self.recovery.retransmitting or self.force_head:
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
                self.snd_nxt - length,
                self.snd_nxt,
                self.last_pushed(),
                now_jiffy,
            )
            if large == 0:
                frames += 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _note_limit(self, prior_nxt: cython.longlong) -> cython.int:
        """`tcp_cwnd_validate` of 3.16 and later, after `tcp_write_xmit`."""
        out: cython.longlong = self.board.tail - self.board.head
        limited: cython.bint = (
            self.deferred_limited or self.board.in_flight() >= self.congestion.cwnd
        )
        if self.snd_nxt == prior_nxt and not limited:
            return 0
        if (
            self.snd_una >= self.usage_seq
            or (limited and self.keeps_limit)
            or (out > self.max_packets_out and not (self.cwnd_limited and self.keeps_limit))
        ):
            self.cwnd_limited = limited
            self.max_packets_out = out
            self.usage_seq = self.snd_nxt
        return 0

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
        board: Scoreboard = self.board
        frames: cython.longlong = 0
        number: cython.longlong
        start: cython.longlong
        if self.expired == _PROBE:
            return self._stage_loss_probe(queue, remote, overhead_bytes, cpu, now_jiffy)
        self.recovery.retransmitting = False
        while board.tail > board.head:
            if self.force_head:
                self.force_head = False
                number = board.head
            else:
                number = self.recovery.next_retransmission(self.may_send_now())
            if number == _NONE:
                break
            start = self._start_of(number)
            if start >= self.snd_una + self.snd_wnd and start != self.snd_una:
                # the peer has taken its window back
                break
            self._append(
                queue, remote, overhead_bytes, cpu, start, board.end_of(number), False, now_jiffy
            )
            frames += 1
            self.retransmissions += 1
            if self.rtt is not None:
                self._stamp(number)
            self.recovery.resent(number, self.snd_nxt, now_jiffy)
            if number == board.head and self.pending != _REORDERING:
                self.rto_jiffy = now_jiffy + self.rto
                self.pending = 0
        self.force_head = False
        if self.pending == _REORDERING and self.expired == _REORDERING:
            self._rearm(now_jiffy)
        self.expired = 0
        return frames

    @cython.cfunc
    @cython.exceptval(-1)
    def _start_of(self, number: cython.longlong) -> cython.longlong:
        """First byte of a segment that is to be sent again."""
        return self.snd_una if number == self.board.head else self.board.end_of(number - 1)

    # -- RACK and loss probes ---------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _stamp(self, number: cython.longlong) -> cython.int:
        """Note in microseconds, and for timestamps, when a segment is sent again."""
        if self.sacks is not None:
            self.sacks.resent(number, self.now_us)
        elif self.recovery.retrans_stamp == _NONE:
            self.recovery.retrans_stamp = self.now_us // 1000
        return 0

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
        if self.sacks.new_first and self.snd_nxt == prior_nxt:
            self.sacks.nothing_new()
            return self._stage_again(queue, remote, overhead_bytes, cpu, now_jiffy)
        if self.snd_nxt != prior_nxt:
            if alone:
                self.pending = 0
            elif self.pending == _PROBE:
                self._rearm(now_jiffy)
            self._schedule_loss_probe(now_jiffy, self._rto_left_us())
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _rto_left_us(self) -> cython.longlong:
        """`tcp_rto_delta_us`: until the first segment's timeout."""
        sent_us: cython.longlong = self.board.sent_us_of(self.board.head)
        return sent_us + self.rto * self.rtt.jiffy_us - self.now_us

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _rearm(self, now_jiffy: cython.longlong) -> cython.int:
        """`tcp_rearm_rto`."""
        if self.board.head == self.board.tail:
            self.rto_jiffy = _NONE
        elif self.pending != 0:
            self.rto_jiffy = now_jiffy + self.rtt.jiffies(max(self._rto_left_us(), 1))
        else:
            self.rto_jiffy = now_jiffy + self.rto
        self.pending = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _schedule_loss_probe(
        self, now_jiffy: cython.longlong, rto_left_us: cython.longlong
    ) -> cython.bint:
        """`tcp_schedule_loss_probe`; return whether the timer is set for one."""
        jiffies: cython.longlong = self.sacks.probe.timeout_jiffies(
            self.recovery.state, self.packets_out(), rto_left_us
        )
        if jiffies == _NONE:
            return False
        self.rto_jiffy = now_jiffy + jiffies
        self.pending = _PROBE
        return True

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
        length: cython.longlong = min(self.write_seq - self.snd_nxt, self.mss)
        last: cython.longlong = self.board.tail - 1
        fresh: cython.bint = 0 < length <= self.snd_una + self.snd_wnd - self.snd_nxt
        start: cython.longlong = self.snd_nxt
        self.expired = 0
        self.force_head = False
        if self.sacks.tags.probe_end != _NONE or self.board.head == self.board.tail:
            self._rearm(now_jiffy)
            return 0
        if fresh:
            self.sent(length, now_jiffy)
        else:
            start = self._start_of(last)
            self.retransmissions += 1
            self.sacks.probed(last, now_jiffy, self.now_us)
        self.sacks.probe.begin(self.snd_nxt, not fresh)
        self._append(
            queue, remote, overhead_bytes, cpu, start, self.snd_nxt, self.last_pushed(), now_jiffy
        )
        self.pending = 0
        self._rearm(now_jiffy)
        return 1

    @cython.ccall
    @cython.exceptval(-1)
    def stage_probe(
        self, queue: SkbQueue, remote: Endpoint, overhead_bytes: cython.int, cpu: Cpu
    ) -> cython.bint:
        """`tcp_xmit_probe_skb` if `probing`: old data, whose answer tells the window."""
        if not self.probing:
            return False
        self.probing = False
        self._append(
            queue, remote, overhead_bytes, cpu, self.snd_una - 1, self.snd_una, False, _NONE
        )
        return True

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
        skb: Skb
        size: cython.longlong = overhead_bytes + end_seq - seq
        if size < _MIN_WIRE_BYTES:
            size = _MIN_WIRE_BYTES
        skb = new_skb(remote, seq, end_seq, 0, 0, size, push)
        skb.toucher = cpu
        if self.rtt is not None:
            self.last_sent_us = self.now_us
            if self.timestamps:
                skb.tsval = self.now_us // 1000
        elif self.timestamps:
            skb.tsval = now_jiffy
        queue.append(skb)
        return 0

    # -- acknowledgement ------------------------------------------------------------------

    @cython.ccall
    @cython.exceptval(-1)
    def acknowledge(  # noqa: C901 - the kernel's order
        self,
        ack: cython.longlong,
        window: cython.longlong,
        now_jiffy: cython.longlong,
        blocks: list[Any] | None = None,
        echo: cython.longlong = -1,
        with_data: cython.bint = False,  # noqa: FBT002 - a cdef function has no keywords
    ) -> cython.longlong:
        """`tcp_ack`: return how many segments it acknowledged; `stage` sends what it lets go.

        Args:
            ack: of the segment.
            window: of the segment, bytes.
            now_jiffy: jiffies.
            blocks: its SACK option: (first byte, last plus one), D-SACK first.
            echo: its TSecr, the jiffy in which what it answers was sent; -1 without timestamps.
            with_data: the segment carries data, too, so it is no duplicate ACK.
        """
        board: Scoreboard = self.board
        prior_una: cython.longlong = self.snd_una
        before: cython.longlong = board.tail - board.head
        update: cython.bint = window > self.snd_wnd
        flight: cython.longlong
        acked: cython.longlong
        sacked: cython.bint = False
        if ack < prior_una or ack > self.snd_nxt:
            # overtaken by a later one
            if blocks is not None and ack < prior_una and before > 0:
                self._overtaken(blocks, ack, now_jiffy, echo)
            return 0
        # tcp_may_update_window
        if ack > prior_una or update:
            self.snd_wnd = window
            if window > self.max_window:
                self.max_window = window
                self._sync_mss()
        self.snd_una = ack
        if self.sacks is not None:
            return self._acknowledge_with_sack(
                prior_una, before, now_jiffy, blocks, echo, update or with_data
            )
        if before == 0:
            if blocks is not None:
                self._tag(blocks, ack, prior_una)
            # tcp_ack_probe: if the window is still closed, the next probe waits its full time
            self.rto_jiffy = _NONE
            return 0
        if blocks is not None:
            sacked = self._tag(blocks, ack, prior_una)
        flight = board.in_flight()
        acked = board.clean(ack, now_jiffy)
        if acked > 0:
            self._timed(acked, now_jiffy, echo)
        if (
            acked > 0
            and not sacked
            and self.recovery.state == _OPEN
            and self.recovery.frto == 0
            and not (self.newreno is not None and self.newreno.echo)
        ):
            if self.congestion.abc > 0:
                self.congestion.bytes_acked += ack - prior_una
            if self._limited(flight):
                self.congestion.avoid(ack, self.snd_nxt, now_jiffy, acked)
            return acked
        self._dubious(
            prior_una, flight, acked, now_jiffy, blocks, echo, sacked, update or with_data
        )
        return acked

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _tell_recovery(self) -> cython.int:
        self.recovery.snd_una = self.snd_una
        self.recovery.snd_nxt = self.snd_nxt
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _overtaken(
        self,
        blocks: list[Any],
        ack: cython.longlong,
        now_jiffy: cython.longlong,
        echo: cython.longlong,
    ) -> cython.int:
        """Of an ACK that comes late the blocks count."""
        if self.sacks is None:
            self._tag(blocks, ack, self.snd_una)
            return 0
        self._tell_recovery()
        self.sacks.overtaken(blocks, ack, echo, self.now_us)
        return self._set_timer(now_jiffy)

    @cython.cfunc
    @cython.exceptval(-1)
    def _acknowledge_with_sack(
        self,
        prior_una: cython.longlong,
        before: cython.longlong,
        now_jiffy: cython.longlong,
        blocks: list[Any] | None,
        echo: cython.longlong,
        news: cython.bint,
    ) -> cython.longlong:
        """The rest of `tcp_ack` in 4.18 and later."""
        sacks: SackRecovery = self.sacks
        flight: cython.longlong = self.board.in_flight()
        acked: cython.longlong
        self._tell_recovery()
        acked = sacks.acknowledge(
            prior_una,
            blocks,
            echo,
            news,
            self.snd_nxt < min(self.write_seq, self.snd_una + self.snd_wnd),
            now_jiffy,
            self.now_us,
        )
        if before == 0:
            self.rto_jiffy = _NONE
            self.pending = 0
            return 0
        if sacks.rto != _NONE:
            self.rto = sacks.rto
            self.backoff = 0
        self._set_timer(now_jiffy)
        if sacks.raises and self._limited(flight):
            self.congestion.avoid(self.snd_una, self.snd_nxt, now_jiffy, sacks.tags.delivered)
        return acked

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _set_timer(self, now_jiffy: cython.longlong) -> cython.int:
        """The timer, after an ACK."""
        sacks: SackRecovery = self.sacks
        if sacks.look_again > 0:
            self.rto_jiffy = now_jiffy + min(sacks.look_again, self.rto)
            self.pending = _REORDERING
        elif sacks.renege > 0:
            self.rto_jiffy = now_jiffy + sacks.renege
            self.pending = 0
        elif sacks.rearms and not self._schedule_loss_probe(
            now_jiffy, self.rto * sacks.rtt.jiffy_us
        ):
            self._rearm(now_jiffy)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _limited(self, flight: cython.longlong) -> cython.bint:
        """`tcp_is_cwnd_limited`."""
        left: cython.longlong = self.congestion.cwnd - flight
        if self.limited_when_sent:
            if self.congestion.in_slow_start() and not (self.keeps_limit and self.cwnd_limited):
                return self.congestion.cwnd < 2 * self.max_packets_out
            return self.cwnd_limited
        if left <= 0:
            return True
        if self.tso:
            if self.tso_win_divisor > 0 and left * self.tso_win_divisor < self.congestion.cwnd:
                return not self.near_limit or left * self.mss < _TSO_BYTES
            return (self.tso_win_divisor == 0 or self.near_limit) and left <= _MAX_BURST
        return self.near_limit and left <= _MAX_BURST

    @cython.cfunc
    @cython.exceptval(-1)
    def _tag(
        self, blocks: list[Any], ack: cython.longlong, prior_una: cython.longlong
    ) -> cython.bint:
        if not self.sack:
            return False
        return self.board.tag_blocks(
            blocks,
            ack,
            prior_una,
            self.recovery.state == _RECOVERY,
            self.recovery.state == _LOSS,
        )

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _dubious(  # noqa: C901 - the kernel's order
        self,
        prior_una: cython.longlong,
        flight: cython.longlong,
        acked: cython.longlong,
        now_jiffy: cython.longlong,
        blocks: list[Any] | None,
        echo: cython.longlong,
        sacked: cython.bint,
        no_duplicate: cython.bint,
    ) -> cython.int:
        """What `tcp_ack` does with ACKs that are not just the next one."""
        board: Scoreboard = self.board
        recovery: Recovery = self.recovery
        settled: cython.bint = False
        data_lost: cython.bint = False
        beyond: cython.bint = False
        newly: cython.longlong = board.newly_sacked if sacked else 0
        may_send: cython.bint = self.may_send_now()
        duplicate: cython.bint = acked == 0 and not no_duplicate and self.snd_una == prior_una
        recovery.see(
            now_jiffy, self.rto, prior_una, self.snd_una, self.snd_nxt, acked + newly, echo
        )
        if not self.sack and duplicate:
            recovery.delivered = 1
        if self.congestion.abc > 0 and recovery.state == _LOSS:
            self.congestion.bytes_acked += min(self.snd_una - prior_una, self.mss)
        elif self.congestion.abc > 0 and recovery.may_raise():
            self.congestion.bytes_acked += self.snd_una - prior_una
        if self.newreno is not None:
            if (
                self.newreno.alert(duplicate, acked, self.snd_una - prior_una)
                and acked > 0
                and self._limited(flight)
            ):
                self.congestion.avoid(self.snd_una, self.snd_nxt, now_jiffy, self.newreno.delivered)
            return 0
        if blocks is not None:
            for block in blocks:
                if block[1] > recovery.high_seq:
                    data_lost = True
                if block[1] > recovery.frto_high:
                    beyond = True
        if recovery.frto > 0:
            settled = recovery.process_frto(
                acked,
                newly,
                beyond and newly > 0,
                board.retrans_acked and acked > 0,
                duplicate,
                may_send,
            )
        if acked > 0 and not settled and recovery.may_raise() and self._limited(flight):
            self.congestion.avoid(self.snd_una, self.snd_nxt, now_jiffy, acked)
        # tcp_ack_is_dubious
        if duplicate or sacked or recovery.state != _OPEN:
            recovery.alert(duplicate, data_lost, sacked, acked, may_send)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _timed(
        self, acked: cython.longlong, now_jiffy: cython.longlong, echo: cython.longlong
    ) -> cython.int:
        """`tcp_ack_update_rtt` and `tcp_ack_packets_out`, for an ACK that took segments off."""
        board: Scoreboard = self.board
        rtt_us: cython.longlong = _NONE
        if self.congestion.wants_us and not board.retrans_acked:
            rtt_us = self.now_us - board.acked_sent_us
        if self.rtt is not None:
            self._sample_us(acked, echo)
        elif echo != _NONE:
            self._rtt_sample(now_jiffy - echo)
        elif board.rtt_jiffies != _NONE and not board.retrans_acked:
            self._rtt_sample(board.rtt_jiffies)
        if board.head == board.tail:
            self.rto_jiffy = _NONE
        else:
            self.rto_jiffy = now_jiffy + self.rto
        self.congestion.segments_acked(
            acked, rtt_us, now_jiffy, self.now_us, self.recovery.state == _OPEN
        )
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _sample_us(self, acked: cython.longlong, echo: cython.longlong) -> cython.int:
        """`tcp_ack_update_rtt`: timestamps count only for what has been sent again."""
        if not self.board.retrans_acked:
            self._take_rtt(self.now_us - self.board.sent_us_of(self.board.head - acked))
        elif echo != _NONE:
            self._take_rtt(self.rtt.of_echo(echo, self.now_us))
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _take_rtt(self, rtt_us: cython.longlong) -> cython.int:
        self.rtt.bound(rtt_us, self.now_us)
        self.rto = self.rtt.sample(rtt_us, self.snd_una, self.snd_nxt)
        self.backoff = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _rtt_sample(self, rtt: cython.longlong) -> cython.int:
        """`tcp_rtt_estimator` and `tcp_set_rto`; srtt is kept times 8, mdev times 4."""
        error: cython.longlong
        if rtt == 0:
            rtt = 1
        if self.srtt != 0:
            error = rtt - (self.srtt >> 3)
            self.srtt += error
            if error < 0:
                error = -error - (self.mdev >> 2)
                # a round trip that gets shorter is no reason for a longer timeout
                if error > 0:
                    error >>= 3
            else:
                error -= self.mdev >> 2
            self.mdev += error
            if self.mdev > self.mdev_max:
                self.mdev_max = self.mdev
                if self.mdev_max > self.rttvar:
                    self.rttvar = self.mdev_max
            if self.snd_una > self.rtt_seq:
                if self.mdev_max < self.rttvar:
                    self.rttvar -= (self.rttvar - self.mdev_max) >> 2
                self.rtt_seq = self.snd_nxt
                self.mdev_max = self.rto_min
        else:
            self.srtt = rtt << 3
            self.mdev = rtt << 1
            self.rttvar = self.mdev if self.mdev > self.rto_min else self.rto_min
            self.mdev_max = self.rttvar
            self.rtt_seq = self.snd_nxt
        self.rto = (self.srtt >> 3) + self.rttvar
        if self.rto > self.rto_max:
            self.rto = self.rto_max
        self.backoff = 0
        return 0

    # -- timer ------------------------------------------------------------------------------

    @cython.ccall
    @cython.exceptval(-1)
    def timer_due(self, now_jiffy: cython.longlong) -> cython.longlong:
        """Jiffy for which the timer is to be set, no earlier than now; -1 if for none.

        It is in the past if copying and sending took longer than the timeout.
        """
        if self.rto_jiffy == _NONE and not self.awaits_window(now_jiffy):
            return _NONE
        return self.rto_jiffy if self.rto_jiffy >= now_jiffy else now_jiffy

    @cython.ccall
    @cython.exceptval(-1)
    def overdue(self, now_jiffy: cython.longlong) -> cython.bint:
        """Whether the timer, if it runs now, has expired: ACKs put it off without moving it."""
        return self.rto_jiffy != _NONE and self.rto_jiffy < now_jiffy

    @cython.ccall
    @cython.exceptval(-1)
    def timer_expired(self, now_jiffy: cython.longlong) -> cython.bint:
        """`tcp_retransmit_timer`; return whether anything is to be sent.

        With nothing outstanding it is `tcp_probe_timer`: `probing` asks for a window probe.
        """
        if self.pending != 0:
            return self._early_timer(now_jiffy)
        if self.board.head == self.board.tail:
            self.rto_jiffy = _NONE
            self.probing = self.write_seq > self.snd_nxt
            if self.probing and self.backoff < _RETRIES2:
                self.backoff += 1
            return self.probing
        self.timeouts += 1
        self.burst_left = 0
        if self.sacks is not None:
            self._tell_recovery()
            self.sacks.timeout(self.now_us)
        else:
            self.recovery.timeout(self.snd_una, self.snd_nxt)
        self.force_head = True
        self.backoff += 1
        self.rto <<= 1
        if self.rto > self.rto_max:
            self.rto = self.rto_max
        self.rto_jiffy = now_jiffy + self.rto
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def _early_timer(self, now_jiffy: cython.longlong) -> cython.bint:
        """The timer was set for a loss probe, or for RACK to look for losses again."""
        self.expired = self.pending
        if self.pending == _PROBE:
            self.force_head = True
            return True
        self._tell_recovery()
        if self.sacks.reordering_timeout(self.now_us):
            return True
        self.expired = 0
        self._rearm(now_jiffy)
        return False
