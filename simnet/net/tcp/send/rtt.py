"""Round-trip times as Linux keeps them: in jiffies, in 3.15 and later in microseconds.

Source: net/ipv4/tcp_input.c (`tcp_rtt_estimator`, `tcp_set_rto`, `tcp_update_rtt_min`) and
lib/win_minmax.c of 6.x; RFC 6298. A timeout is in jiffies, rounded up.
"""

from __future__ import annotations

import cython

from simnet.kernel.sentinel import NONE

_US: cython.longlong = 10**6
# tcp_min_rtt_wlen
_WINDOW_US: cython.longlong = 300 * 10**6


@cython.final
@cython.no_gc
@cython.cclass
class RttEstimator:
    """What one connection has measured.

    Args:
        jiffy_ps: length of a jiffy.
        rto_min_ps, rto_max_ps: bounds of the retransmission timeout.
        fine: times are microseconds; else jiffies.

    Attributes:
        srtt: smoothed round-trip time times 8; 0 before the first measurement.
        least_us: shortest one of the last 300 s; -1 before the first measurement.
        rto_min: the least that is added to it for a timeout.
        jiffy: length of a jiffy in these units.
    """

    srtt: cython.longlong = 0
    mdev: cython.longlong = 0
    mdev_max: cython.longlong = 0
    rttvar: cython.longlong = 0
    rtt_seq: cython.longlong = 0
    rto_min: cython.longlong = 0
    rto_max: cython.longlong = 0
    jiffy: cython.longlong = 0
    fine: cython.bint = False
    least_us: cython.longlong = 0
    least_at_us: cython.longlong = 0
    second_us: cython.longlong = 0
    second_at_us: cython.longlong = 0
    third_us: cython.longlong = 0
    third_at_us: cython.longlong = 0

    def __init__(
        self,
        jiffy_ps: cython.longlong,
        rto_min_ps: cython.longlong,
        rto_max_ps: cython.longlong,
        *,
        fine: cython.bint = True,
    ) -> None:
        self.fine = fine
        self.jiffy = jiffy_ps // _US if fine else 1
        self.rto_min = rto_min_ps // _US if fine else (rto_min_ps + jiffy_ps - 1) // jiffy_ps
        self.rto_max = (rto_max_ps + jiffy_ps - 1) // jiffy_ps
        self.least_us = self.second_us = self.third_us = NONE

    def jiffies(self, time: cython.longlong) -> cython.longlong:
        """`usecs_to_jiffies`: rounded up."""
        return (time + self.jiffy - 1) // self.jiffy

    def of_echo(self, echo_ms: cython.longlong, now_us: cython.longlong) -> cython.longlong:
        """`tcp_rtt_tsopt_us`: the round trip by an echoed timestamp, at least a millisecond."""
        return 1000 * max(now_us // 1000 - echo_ms, 1)

    def sample(
        self, rtt: cython.longlong, snd_una: cython.longlong, snd_nxt: cython.longlong
    ) -> cython.longlong:
        """Take a measurement in; return the retransmission timeout, jiffies."""
        error: cython.longlong
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
            if snd_una > self.rtt_seq:
                if self.mdev_max < self.rttvar:
                    self.rttvar -= (self.rttvar - self.mdev_max) >> 2
                self.rtt_seq = snd_nxt
                self.mdev_max = self.rto_min
        else:
            self.srtt = rtt << 3
            self.mdev = rtt << 1
            self.rttvar = max(self.mdev, self.rto_min)
            self.mdev_max = self.rttvar
            self.rtt_seq = snd_nxt
        if self.srtt < 1:
            self.srtt = 1
        return min(self.jiffies((self.srtt >> 3) + self.rttvar), self.rto_max)

    def bound(self, rtt_us: cython.longlong, now_us: cython.longlong) -> cython.int:
        """`tcp_update_rtt_min`: keep the three shortest of a sliding window."""
        if rtt_us <= 0:
            rtt_us = self.jiffy
        if (
            self.least_us == NONE
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

    def _restart(self, rtt_us: cython.longlong, now_us: cython.longlong) -> cython.int:
        """One sample is the least of all three parts (`minmax_reset`)."""
        self.least_us = self.second_us = self.third_us = rtt_us
        self.least_at_us = self.second_at_us = self.third_at_us = now_us
        return 0

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

    def _step(self, rtt_us: cython.longlong, now_us: cython.longlong) -> cython.int:
        """The second and third least move up."""
        self.least_us, self.least_at_us = self.second_us, self.second_at_us
        self.second_us, self.second_at_us = self.third_us, self.third_at_us
        self.third_us, self.third_at_us = rtt_us, now_us
        return 0
