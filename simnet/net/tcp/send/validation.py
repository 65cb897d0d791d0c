"""Whether the congestion window is in use, and what becomes of one that is not.

Source: net/ipv4/tcp_output.c of Linux (`tcp_cwnd_validate`, `tcp_cwnd_application_limited`,
`tcp_cwnd_restart`), tcp_cong.c and include/net/tcp.h (`tcp_is_cwnd_limited`); RFC 2861.
"""

from __future__ import annotations

import cython

from simnet.net.tcp.congestion.control import Congestion
from simnet.net.tcp.recovery.recovery import OPEN, Recovery
from simnet.net.tcp.rules.sender_version import SenderRules
from simnet.net.tcp.send.timer import SendTimer

_TSO_BYTES: cython.longlong = 65536
_MAX_BURST: cython.longlong = 3


@cython.final
@cython.no_gc
@cython.cclass
class WindowValidation:
    """What one connection has used of its congestion window.

    Args:
        recovery: its state, with its segments, its window and its timer.
        rules: of the kernel's version.
        tso: the NIC segments.
        tso_win_divisor: tcp_tso_win_divisor.
        restarts: tcp_slow_start_after_idle.
    """

    recovery: Recovery = None
    timer: SendTimer = None
    congestion: Congestion = None
    tso: cython.bint = False
    tso_win_divisor: cython.int = 0
    restarts: cython.bint = False
    near_limit: cython.bint = False
    limited_when_sent: cython.bint = False
    keeps_limit: cython.bint = False
    cwnd_limited: cython.bint = False
    initial_cwnd: cython.longlong = 0
    cwnd_used: cython.longlong = 0
    cwnd_jiffy: cython.longlong = 0
    last_sent_jiffy: cython.longlong = 0
    max_packets_out: cython.longlong = 0
    usage_seq: cython.longlong = 0

    def __init__(
        self,
        recovery: Recovery,
        rules: SenderRules,
        tso: cython.bint,
        tso_win_divisor: cython.int,
        restarts: cython.bint,
    ) -> None:
        self.recovery = recovery
        self.timer = recovery.timer
        self.congestion = recovery.congestion
        self.tso = tso
        self.tso_win_divisor = tso_win_divisor
        self.restarts = restarts
        self.near_limit = rules.near_limit
        self.limited_when_sent = rules.limited_when_sent
        self.keeps_limit = rules.keeps_limit
        self.initial_cwnd = recovery.congestion.cwnd

    @cython.cfunc
    def limited(self, flight: cython.longlong) -> cython.bint:
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
                return not self.near_limit or left * self.recovery.seq.mss < _TSO_BYTES
            return (self.tso_win_divisor == 0 or self.near_limit) and left <= _MAX_BURST
        return self.near_limit and left <= _MAX_BURST

    @cython.cfunc
    def note_limit(self, prior_nxt: cython.longlong, deferred: cython.bint) -> cython.int:
        """`tcp_cwnd_validate` of 3.16 and later, after `tcp_write_xmit`.

        `deferred`: the window, not the peer's, let a segment be deferred.
        """
        out: cython.longlong = self.recovery.board.tail - self.recovery.board.head
        limited: cython.bint = deferred or self.recovery.board.in_flight() >= self.congestion.cwnd
        if self.recovery.seq.snd_nxt == prior_nxt and not limited:
            return 0
        if (
            self.recovery.seq.snd_una >= self.usage_seq
            or (limited and self.keeps_limit)
            or (out > self.max_packets_out and not (self.cwnd_limited and self.keeps_limit))
        ):
            self.cwnd_limited = limited
            self.max_packets_out = out
            self.usage_seq = self.recovery.seq.snd_nxt
        return 0

    @cython.cfunc
    def segment_sent(self, out: cython.longlong, now_jiffy: cython.longlong) -> cython.int:
        """`tcp_cwnd_validate`: a segment is sent while `out` are on their way."""
        if self.congestion.controls:
            return 0
        if (
            out == 0
            and self.restarts
            and now_jiffy - self.last_sent_jiffy > self.timer.rto
            and self.recovery.seq.snd_nxt > 0
        ):
            self._restart(now_jiffy)
        self.last_sent_jiffy = now_jiffy
        out += 1
        if out >= self.congestion.cwnd:
            self.cwnd_used = 0
            self.cwnd_jiffy = now_jiffy
        else:
            if out > self.cwnd_used:
                self.cwnd_used = out
            if now_jiffy - self.cwnd_jiffy >= self.timer.rto:
                self._application_limited(now_jiffy)
        return 0

    def _application_limited(self, now_jiffy: cython.longlong) -> cython.int:
        """`tcp_cwnd_application_limited`: the window that is not used decays (RFC 2861)."""
        used: cython.longlong = self.cwnd_used
        if self.recovery.state == OPEN and not self.recovery.seq.no_space:
            if used < self.initial_cwnd:
                used = self.initial_cwnd
            if used < self.congestion.cwnd:
                self.congestion.set_threshold(self.recovery.current_ssthresh())
                self.congestion.set_window((self.congestion.cwnd + used) >> 1)
            self.cwnd_used = 0
        self.cwnd_jiffy = now_jiffy
        return 0

    def _restart(self, now_jiffy: cython.longlong) -> cython.int:
        """`tcp_cwnd_restart`: half the window for every timeout that the connection was idle."""
        rto: cython.longlong = self.timer.rto
        idle: cython.longlong = now_jiffy - self.last_sent_jiffy - rto
        cwnd: cython.longlong = self.congestion.cwnd
        least: cython.longlong = self.initial_cwnd if self.initial_cwnd < cwnd else cwnd
        self.congestion.set_threshold(self.recovery.current_ssthresh())
        while idle > 0 and cwnd > least:
            cwnd >>= 1
            idle -= rto
        self.congestion.set_window(cwnd if cwnd > least else least)
        self.cwnd_jiffy = now_jiffy
        self.cwnd_used = 0
        return 0
