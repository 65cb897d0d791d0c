"""Round-trip times in microseconds, as Linux 3.15 and later keep them.

Source: net/ipv4/tcp_input.c (`tcp_rtt_estimator`, `tcp_set_rto`, `tcp_update_rtt_min`) and
lib/win_minmax.c of 6.x; RFC 6298. A timeout is in jiffies, rounded up.
"""

from __future__ import annotations

import cython

__all__ = ["RttEstimator"]

_NONE = cython.declare(cython.longlong, -1)
_US = cython.declare(cython.longlong, 10**6)
# tcp_min_rtt_wlen
_WINDOW_US = cython.declare(cython.longlong, 300 * 10**6)


@cython.final
@cython.no_gc
@cython.cclass
class RttEstimator:
    """What one connection has measured.

    Args:
        jiffy_ps: length of a jiffy.
        rto_min_ps, rto_max_ps: bounds of the retransmission timeout.

    Attributes:
        srtt_us: smoothed round-trip time times 8; 0 before the first measurement.
        least_us: shortest one of the last 300 s; -1 before the first measurement.
        jiffy_us: length of a jiffy.
    """

    srtt_us: cython.longlong
    mdev_us: cython.longlong
    mdev_max_us: cython.longlong
    rttvar_us: cython.longlong
    rtt_seq: cython.longlong
    rto_min_us: cython.longlong
    rto_max_jiffies: cython.longlong
    jiffy_us: cython.longlong
    least_us: cython.longlong
    least_at_us: cython.longlong
    second_us: cython.longlong
    second_at_us: cython.longlong
    third_us: cython.longlong
    third_at_us: cython.longlong

    def __init__(self, jiffy_ps: int, rto_min_ps: int, rto_max_ps: int) -> None:
        self.jiffy_us = jiffy_ps // _US
        self.rto_min_us = rto_min_ps // _US
        self.rto_max_jiffies = -(-rto_max_ps // jiffy_ps)
        self.srtt_us = 0
        self.mdev_us = 0
        self.mdev_max_us = 0
        self.rttvar_us = 0
        self.rtt_seq = 0
        self.least_us = _NONE
        self._restart(_NONE, 0)

    @cython.ccall
    @cython.exceptval(-1)
    def jiffies(self, time_us: cython.longlong) -> cython.longlong:
        """`usecs_to_jiffies`: rounded up."""
        return (time_us + self.jiffy_us - 1) // self.jiffy_us

    @cython.ccall
    @cython.exceptval(-1)
    def of_echo(self, echo_ms: cython.longlong, now_us: cython.longlong) -> cython.longlong:
        """`tcp_rtt_tsopt_us`: what a timestamp that comes back tells, at least a millisecond."""
        return 1000 * max(now_us // 1000 - echo_ms, 1)

    @cython.ccall
    @cython.exceptval(-1)
    def sample(
        self, rtt_us: cython.longlong, snd_una: cython.longlong, snd_nxt: cython.longlong
    ) -> cython.longlong:
        """Take a measurement in; return the retransmission timeout, jiffies."""
        error: cython.longlong
        if self.srtt_us != 0:
            error = rtt_us - (self.srtt_us >> 3)
            self.srtt_us += error
            if error < 0:
                error = -error - (self.mdev_us >> 2)
                # a round trip that gets shorter is no reason for a longer timeout
                if error > 0:
                    error >>= 3
            else:
                error -= self.mdev_us >> 2
            self.mdev_us += error
            if self.mdev_us > self.mdev_max_us:
                self.mdev_max_us = self.mdev_us
                if self.mdev_max_us > self.rttvar_us:
                    self.rttvar_us = self.mdev_max_us
            if snd_una > self.rtt_seq:
                if self.mdev_max_us < self.rttvar_us:
                    self.rttvar_us -= (self.rttvar_us - self.mdev_max_us) >> 2
                self.rtt_seq = snd_nxt
                self.mdev_max_us = self.rto_min_us
        else:
            self.srtt_us = rtt_us << 3
            self.mdev_us = rtt_us << 1
            self.rttvar_us = max(self.mdev_us, self.rto_min_us)
            self.mdev_max_us = self.rttvar_us
            self.rtt_seq = snd_nxt
        if self.srtt_us < 1:
            self.srtt_us = 1
        return min(self.jiffies((self.srtt_us >> 3) + self.rttvar_us), self.rto_max_jiffies)

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def bound(self, rtt_us: cython.longlong, now_us: cython.longlong) -> cython.int:
        """`tcp_update_rtt_min`: keep the three shortest of a sliding window."""
        if rtt_us <= 0:
            rtt_us = self.jiffy_us
        if (
            self.least_us == _NONE
            or rtt_us <= self.least_us
            or now_us - self.third_at_us > _WINDOW_US
        ):
            self._restart(rtt_us, now_us)
            return 0
        if rtt_us <= self.second_us:
            self.second_us = self.third_us = rtt_us
            self.second_at_us = self.third_at_us = now_us
        elif rtt_us <= self.third_us:
            self.third_us = rtt_us
            self.third_at_us = now_us
        self._age(rtt_us, now_us)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _restart(self, rtt_us: cython.longlong, now_us: cython.longlong) -> cython.int:
        self.least_us = self.second_us = self.third_us = rtt_us
        self.least_at_us = self.second_at_us = self.third_at_us = now_us
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _age(self, rtt_us: cython.longlong, now_us: cython.longlong) -> cython.int:
        """`minmax_subwin_update`: the best one may have left the window."""
        age_us: cython.longlong = now_us - self.least_at_us
        if age_us > _WINDOW_US:
            self._step(rtt_us, now_us)
            if now_us - self.least_at_us > _WINDOW_US:
                self._step(rtt_us, now_us)
        elif self.second_at_us == self.least_at_us and age_us > _WINDOW_US // 4:
            self.second_us = self.third_us = rtt_us
            self.second_at_us = self.third_at_us = now_us
        elif self.third_at_us == self.second_at_us and age_us > _WINDOW_US // 2:
            self.third_us = rtt_us
            self.third_at_us = now_us
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _step(self, rtt_us: cython.longlong, now_us: cython.longlong) -> cython.int:
        self.least_us, self.least_at_us = self.second_us, self.second_at_us
        self.second_us, self.second_at_us = self.third_us, self.third_at_us
        self.third_us, self.third_at_us = rtt_us, now_us
        return 0
