"""Round-trip times, and what a sender's timer is set for and for how long.

Source: net/ipv4/tcp_input.c (`tcp_rtt_estimator`, `tcp_set_rto`, `tcp_update_rtt_min`,
`tcp_rearm_rto`, `tcp_set_xmit_timer`), tcp_timer.c and lib/win_minmax.c; RFC 6298. Times are in
jiffies, in 3.15 and later in microseconds; a timeout is in jiffies, rounded up. There is one timer
for the retransmission timeout, window probes, loss probes and RACK's reordering window.
"""

from __future__ import annotations

import cython

from simnet.kernel.sentinel import NONE
from simnet.net.tcp.recovery.scoreboard import Scoreboard

_US: cython.longlong = 10**6
# tcp_min_rtt_wlen
_WINDOW_US: cython.longlong = 300 * 10**6
_RETRIES2: cython.int = 15
# what the timer is set for: the retransmission timeout or a window probe, or
_PROBE: cython.int = 1
_REORDERING: cython.int = 2


@cython.final
@cython.no_gc
@cython.cclass
class RttEstimator:
    """What one connection has measured.

    Args:
        jiffy_ps: length of a jiffy.
        rto_min_ps, rto_max_ps: bounds of the retransmission timeout.
        fine: times are microseconds; else jiffies.
    """

    srtt: cython.longlong = 0  # smoothed round-trip time times 8; 0 before the first measurement
    mdev: cython.longlong = 0
    mdev_max: cython.longlong = 0
    rttvar: cython.longlong = 0
    rtt_seq: cython.longlong = 0
    rto_min: cython.longlong = 0  # the least that is added to `srtt` for a timeout
    rto_max: cython.longlong = 0
    jiffy: cython.longlong = 0  # its length, in the unit of all times here
    fine: cython.bint = False
    least_us: cython.longlong = 0  # shortest one of the last 300 s; -1 before the first measurement
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


@cython.final
@cython.no_gc
@cython.cclass
class SendTimer:
    """The timer of one connection.

    Args:
        board: its segments.
        rtt: its round-trip times.
        rto_init: the timeout as long as no round trip is known, jiffies.
        wants_us: times are wanted in microseconds.
    """

    board: Scoreboard = None
    rtt: RttEstimator = None
    rto_jiffy: cython.longlong = 0  # jiffy for which the timer is set; -1: for none
    rto: cython.longlong = 0  # retransmission timeout, jiffies
    now_us: cython.longlong = 0  # time of what is being handled, if it is wanted
    # what for: 0 a timeout or a window probe, 1 a loss probe, 2 the reordering window of RACK
    pending: cython.int = 0
    expired: cython.int = 0  # the same of what has expired and is being handled
    backoff: cython.int = 0  # how often `rto` has been doubled
    wants_us: cython.bint = False
    resends_head: cython.bint = False  # the first segment is to be sent again, or a loss probe
    probing: cython.bint = False  # a window probe is to be sent

    def __init__(
        self,
        board: Scoreboard,
        rtt: RttEstimator,
        rto_init: cython.longlong,
        wants_us: cython.bint,
    ) -> None:
        self.board = board
        self.rtt = rtt
        self.wants_us = wants_us
        self.rto = rto_init
        self.rto_jiffy = NONE

    def set_time(self, now_ps: cython.longlong) -> cython.int:
        """What is handled next happens at that time."""
        if self.wants_us:
            self.now_us = now_ps // _US
        return 0

    def measured(self, rtt: cython.longlong, latest: cython.longlong) -> cython.int:
        """`tcp_ack_update_rtt`: `rtt` counts for the timeout, `latest` for the shortest one."""
        if self.rtt.fine:
            self.rtt.bound(latest, self.now_us)
        self.rto = self.rtt.sample(rtt, self.board.seq.snd_una, self.board.seq.snd_nxt)
        self.backoff = 0
        return 0

    # -- set ----------------------------------------------------------------------------------

    def start(self, now_jiffy: cython.longlong) -> cython.int:
        """For a full timeout from now on."""
        return self.set_for(now_jiffy, self.rto)

    def set_for(self, now_jiffy: cython.longlong, jiffies: cython.longlong) -> cython.int:
        """For a timeout, in as many jiffies."""
        self.rto_jiffy = now_jiffy + jiffies
        self.pending = 0
        return 0

    def stop(self) -> cython.int:
        """Nothing is outstanding."""
        self.rto_jiffy = NONE
        self.pending = 0
        return 0

    def first_sent(self, now_jiffy: cython.longlong) -> cython.int:
        """A segment has been sent, and nothing had been on its way: a probe is not needed."""
        self.backoff = 0
        self.probing = False
        return self.set_for(now_jiffy, self.rto)

    def await_window(self, now_jiffy: cython.longlong) -> cython.int:
        """For a window probe, unless it is set."""
        if self.rto_jiffy == NONE:
            self.rto_jiffy = now_jiffy + min(self.rto << self.backoff, self.rtt.rto_max)
        return 0

    def left_us(self) -> cython.longlong:
        """`tcp_rto_delta_us`: until the first segment's timeout."""
        sent_us: cython.longlong = self.board.sent_us_of(self.board.head)
        return sent_us + self.rto * self.rtt.jiffy - self.now_us

    def rearm(self, now_jiffy: cython.longlong) -> cython.int:
        """`tcp_rearm_rto`."""
        if self.board.head == self.board.tail:
            return self.stop()
        if self.pending != 0:
            return self.set_for(now_jiffy, self.rtt.jiffies(max(self.left_us(), 1)))
        return self.set_for(now_jiffy, self.rto)

    def look_again(self, now_jiffy: cython.longlong, jiffies: cython.longlong) -> cython.int:
        """For RACK, which looks for losses in as many jiffies."""
        self.set_for(now_jiffy, min(jiffies, self.rto))
        self.pending = _REORDERING
        return 0

    def probe_after(self, now_jiffy: cython.longlong, jiffies: cython.longlong) -> cython.int:
        """For a loss probe."""
        self.set_for(now_jiffy, jiffies)
        self.pending = _PROBE
        return 0

    def sent(self, alone: cython.bint, now_jiffy: cython.longlong) -> cython.int:
        """New segments have been sent; `alone`: nothing had been on its way."""
        if alone:
            self.pending = 0
        elif self.pending == _PROBE:
            self.rearm(now_jiffy)
        return 0

    def head_resent(self, now_jiffy: cython.longlong) -> cython.int:
        """The first segment has been sent again."""
        if self.pending != _REORDERING:
            self.set_for(now_jiffy, self.rto)
        return 0

    # -- expired ------------------------------------------------------------------------------

    def overdue(self, now_jiffy: cython.longlong) -> cython.bint:
        """Whether the timer, if it runs now, has expired: ACKs put it off without moving it."""
        return self.rto_jiffy != NONE and self.rto_jiffy < now_jiffy

    def expire(self) -> cython.bint:
        """It was set for a loss probe, or for RACK; return whether for the former."""
        self.expired = self.pending
        self.resends_head = self.pending == _PROBE
        return self.resends_head

    def time_out(self, now_jiffy: cython.longlong) -> cython.int:
        """The retransmission timeout has passed, and doubles."""
        self.resends_head = True
        self.backoff += 1
        self.rto = min(self.rto << 1, self.rtt.rto_max)
        return self.set_for(now_jiffy, self.rto)

    def probe_window(self, unsent: cython.bint) -> cython.bint:
        """`tcp_probe_timer`: probe, if there is anything `unsent`."""
        self.rto_jiffy = NONE
        self.probing = unsent
        if unsent and self.backoff < _RETRIES2:
            self.backoff += 1
        return unsent

    def take_probe(self) -> cython.bint:
        """Whether a window probe is to be sent, which is sent now."""
        probing: cython.bint = self.probing
        self.probing = False
        return probing

    def take_head(self) -> cython.bint:
        """Whether the first segment is to be sent again, which is done now."""
        first: cython.bint = self.resends_head
        self.resends_head = False
        return first

    def take_loss_probe(self) -> cython.bint:
        """Whether a loss probe is to be sent, which is done now."""
        if self.expired != _PROBE:
            return False
        self.expired = 0
        self.resends_head = False
        return True

    def handled(self, now_jiffy: cython.longlong) -> cython.int:
        """What had expired has been handled; RACK's timer gives way to the timeout."""
        self.resends_head = False
        if self.pending == _REORDERING and self.expired == _REORDERING:
            self.rearm(now_jiffy)
        self.expired = 0
        return 0

    def probed(self, now_jiffy: cython.longlong) -> cython.int:
        """A loss probe has been sent: wait for a full timeout."""
        self.pending = 0
        return self.rearm(now_jiffy)
