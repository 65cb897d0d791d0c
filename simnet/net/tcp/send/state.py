"""What the sending half of a connection knows, and what its kernel's version makes of it.

Source: net/ipv4/tcp_output.c (`tcp_sync_mss`, `tcp_bound_to_half_wnd`), tcp_input.c. The mechanisms
that change it follow in `tcp_send_timer`, `tcp_send_window`, `tcp_send_acks` and `tcp_sender`, each
a class on top of the one before, so that one object has all of a connection.
"""

from __future__ import annotations

import cython

from simnet.net.tcp.congestion.control import Congestion
from simnet.net.tcp.ecn import Ecn
from simnet.net.tcp.recovery.newreno import NewReno
from simnet.net.tcp.recovery.recovery import Recovery
from simnet.net.tcp.recovery.sack_recovery import SackRecovery
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.net.tcp.rules.sender_version import SenderRules
from simnet.net.tcp.send.rtt import RttEstimator

__all__ = ["SendState"]

_NONE = cython.declare(cython.longlong, -1)
# TCP and IP headers and the least payload that every host takes
_MIN_DATAGRAM_BYTES = cython.declare(cython.int, 68)
_HEADER = cython.declare(cython.int, 20)
_TIMESTAMPS_HEADER = cython.declare(cython.int, 32)


@cython.no_gc
@cython.cclass
class SendState:
    """State of the sending half of a connection.

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

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _tell_recovery(self) -> cython.int:
        self.recovery.snd_una = self.snd_una
        self.recovery.snd_nxt = self.snd_nxt
        return 0
