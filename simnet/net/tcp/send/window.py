"""Whether the congestion window is what limits a sender, and what becomes of one that does not.

Source: net/ipv4/tcp_cong.c and include/net/tcp.h (`tcp_is_cwnd_limited`), tcp_output.c
(`tcp_cwnd_validate`, `tcp_cwnd_application_limited`, `tcp_cwnd_restart`); RFC 2861.
"""

from __future__ import annotations

import cython

from simnet.net.tcp.send.timer import SendTimer

__all__ = ["SendWindow"]

_TSO_BYTES = cython.declare(cython.longlong, 65536)
_MAX_BURST = cython.declare(cython.longlong, 3)
_OPEN = cython.declare(cython.int, 0)


@cython.no_gc
@cython.cclass
class SendWindow(SendTimer):
    """The use of the window, on top of `SendTimer`."""

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
