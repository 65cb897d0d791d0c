"""Congestion control: Reno and BIC; CUBIC is in `cubic`, DCTCP in `dctcp`, BBR in `bbr`.

Sources: RFC 5681, 3465; net/ipv4/tcp_cong.c and tcp_bic.c of Linux 2.6.18 (beta 819/1024,
max_increment 16, low_window 14, smooth_part 20, B = 4), in 2.6.9 the same algorithm inside
tcp_input.c without `delayed_ack`. Windows are in segments, times in jiffies.
"""

from __future__ import annotations

import cython

from simnet.net.tcp.congestion.rate import RateSample
from simnet.net.tcp.rules.sender_version import SenderRules

INFINITE_SSTHRESH = 0x7FFFFFFF
_BIC_SSTHRESH = 100


@cython.cclass
class Congestion:
    """Reno; `CongestionMaker` makes it and the others."""

    # segments
    cwnd: cython.longlong = 0
    ssthresh: cython.longlong = 0
    cwnd_count: cython.longlong = 0  # `snd_cwnd_cnt`: ACKs towards the next change of the window
    bytes_acked: cython.longlong = 0  # bytes towards it, with `tcp_abc`
    clamp: cython.longlong = 0
    mss: cython.longlong = 0
    abc: cython.int = 0
    wants_us: cython.bint = False  # round-trip times are wanted in microseconds
    counts_slow_start: cython.bint = False
    counts_segments: cython.bint = False
    slow_start_below: cython.bint = False
    # rate and window are the algorithm's alone, in recovery, too (`cong_control`)
    controls: cython.bint = False
    sndbuf_factor: cython.longlong = 0  # windows that the send buffer grows to
    pacing_rate: cython.longlong = 0  # bytes a second, where it `controls`
    # what ACKs say of the rate of deliveries, where it `controls`; else None
    rate: RateSample = None

    @cython.cfunc
    def start(
        self,
        initial_cwnd: cython.longlong,
        mss: cython.longlong,
        abc: cython.int,
        hz: cython.longlong,
        rules: SenderRules,
    ) -> cython.int:
        """Begin with what `CongestionMaker` has."""
        self.cwnd = initial_cwnd
        self.ssthresh = INFINITE_SSTHRESH
        self.cwnd_count = 0
        self.bytes_acked = 0
        self.clamp = 65535
        self.mss = mss
        self.abc = abc
        self.wants_us = False
        self.counts_slow_start = rules.counts_slow_start
        self.counts_segments = rules.counts_segments
        self.slow_start_below = rules.slow_start_below
        self.controls = False
        self.sndbuf_factor = 2
        return 0

    # -- what others find out about the window ------------------------------------------------

    def set_window(self, cwnd: cython.longlong) -> cython.int:
        """The window is `cwnd` segments."""
        self.cwnd = cwnd
        return 0

    def limit_window(self, cwnd: cython.longlong) -> cython.int:
        """It is no larger than that."""
        if self.cwnd > cwnd:
            self.cwnd = cwnd
        return 0

    def step_down(self, flight: cython.longlong) -> cython.int:
        """`tcp_cwnd_down`: one segment less for every second ACK, `flight` being on their way."""
        self.cwnd_count += 1
        if self.cwnd_count > 1:
            self.cwnd_count = 0
            if self.cwnd > self.least():
                self.cwnd -= 1
        return self.limit_window(flight + 1)

    def set_threshold(self, ssthresh: cython.longlong) -> cython.int:
        """The slow-start threshold is `ssthresh` segments."""
        self.ssthresh = ssthresh
        return 0

    def lower_threshold(self) -> cython.int:
        """Something was lost: the threshold is what the algorithm makes of the window."""
        self.ssthresh = self.reduced()
        return 0

    def restart_count(self) -> cython.int:
        """What had come towards the next change of the window does not count."""
        self.cwnd_count = 0
        self.bytes_acked = 0
        return 0

    def count_bytes(self, count: cython.longlong) -> cython.int:
        """As many bytes have been acknowledged, with `tcp_abc`."""
        self.bytes_acked += count
        return 0

    def resize(self, mss: cython.longlong) -> cython.int:
        """A full segment carries `mss` bytes."""
        self.mss = mss
        return 0

    # -- an ACK -------------------------------------------------------------------------------

    def segments_acked(
        self,
        count: cython.longlong,
        rtt_us: cython.longlong,
        now_jiffy: cython.longlong,
        now_us: cython.longlong,
        open_state: cython.bint,
    ) -> cython.int:
        """`pkts_acked`: an ACK took `count` segments off; the window is not touched.

        `rtt_us` is -1 if not measured; it and `now_us` are in microseconds if `wants_us`.
        """
        return 0

    def avoid(
        self,
        ack: cython.longlong,
        snd_nxt: cython.longlong,
        now_jiffy: cython.longlong,
        acked: cython.longlong,
    ) -> cython.int:
        """`cong_avoid`: an ACK for data arrived while the window was in full use.

        `acked`: segments that it acknowledged, those not counted that had come before.
        """
        if self.in_slow_start():
            acked = self._slow_start(acked)
            if acked == 0:
                return 0
        if self.abc > 0 and not self.counts_segments:
            if self.bytes_acked >= self.cwnd * self.mss:
                self.bytes_acked -= self.cwnd * self.mss
                if self.cwnd < self.clamp:
                    self.cwnd += 1
        else:
            self._additive(self.cwnd, acked)
        return 0

    def in_slow_start(self) -> cython.bint:
        """`tcp_in_slow_start`."""
        if self.slow_start_below:
            return self.cwnd < self.ssthresh
        return self.cwnd <= self.ssthresh

    def _slow_start(self, acked: cython.longlong) -> cython.longlong:
        """`tcp_slow_start`; return how many of `acked` segments are left for what follows."""
        limit: cython.longlong = self.ssthresh if self.slow_start_below else self.ssthresh + 1
        before: cython.longlong = self.cwnd
        if self.counts_slow_start:
            self.cwnd = min(before + acked, limit, self.clamp)
            acked -= self.cwnd - before
            return acked if self.counts_segments and self.cwnd == limit else 0
        self._slow_start_by_acks()
        return 0

    def _slow_start_by_acks(self) -> cython.int:
        if self.abc > 0:
            if self.bytes_acked < self.mss:
                return 0
            if self.abc > 1 and self.bytes_acked >= 2 * self.mss and self.cwnd < self.clamp:
                self.cwnd += 1
        self.bytes_acked = 0
        if self.cwnd < self.clamp:
            self.cwnd += 1
        return 0

    def _additive(self, count: cython.longlong, acked: cython.longlong) -> cython.int:
        """`tcp_cong_avoid_ai`: one segment more for `count` ACKs, or segments."""
        if self.counts_segments:
            if self.cwnd_count >= count:
                # gathered while more were needed
                self.cwnd_count = 0
                self.cwnd += 1
            self.cwnd_count += acked
            self.cwnd += self.cwnd_count // count
            self.cwnd_count %= count
            if self.cwnd > self.clamp:
                self.cwnd = self.clamp
            return 0
        if self.cwnd_count >= count:
            if self.cwnd < self.clamp:
                self.cwnd += 1
            self.cwnd_count = 0
        else:
            self.cwnd_count += 1
        return 0

    def reduced(self) -> cython.longlong:
        """`ssthresh`: the slow-start threshold after a loss."""
        half: cython.longlong = self.cwnd >> 1
        return half if half > 2 else 2

    def least(self) -> cython.longlong:
        """`tcp_cwnd_min`: how far rate halving goes."""
        return self.ssthresh // 2

    def forget(self) -> cython.int:
        """A timeout: what was learnt does not hold any more."""
        return 0

    def recovers(self) -> cython.int:
        """Recovery begins, after `lower_threshold`: something was lost, not just marked."""
        return 0

    def ack_event(
        self,
        snd_una: cython.longlong,
        snd_nxt: cython.longlong,
        delivered: cython.longlong,
        delivered_ce: cython.longlong,
    ) -> cython.int:
        """`in_ack_event`: an ACK has come; what it delivers is not in the counts yet."""
        return 0

    def enters_loss(self) -> cython.int:
        """A timeout has changed the state."""
        return 0

    def first_sent(self, now_us: cython.longlong, now_jiffy: cython.longlong) -> cython.int:
        """A segment is sent, and nothing had been in flight (CA_EVENT_TX_START)."""
        return 0

    def control(self, srtt: cython.longlong) -> cython.int:
        """An ACK has been handled, and is in `rate`; `srtt` is in eighths of a microsecond."""
        return 0

    def min_tso_segments(self) -> cython.longlong:
        """Segments that a large one may always have, where it `controls`."""
        return 2

    def undo_cwnd(self) -> cython.longlong:
        """The window as it was before the last loss, which was none."""
        double: cython.longlong = self.ssthresh << 1
        return double if double > self.cwnd else self.cwnd


@cython.cclass
class Bic(Congestion):
    """BIC, the default of Linux 2.6.8 to 2.6.18."""

    count: cython.longlong = 0
    last_cwnd: cython.longlong = 0
    last_jiffy: cython.longlong = 0
    last_max_cwnd: cython.longlong = 0
    loss_cwnd: cython.longlong = 0
    ack_ratio: cython.longlong = 0
    refresh: cython.longlong = 0
    counts_delayed: cython.bint = False

    def start(
        self,
        initial_cwnd: cython.longlong,
        mss: cython.longlong,
        abc: cython.int,
        hz: cython.longlong,
        rules: SenderRules,
    ) -> cython.int:
        """See `Congestion`."""
        Congestion.start(self, initial_cwnd, mss, abc, hz, rules)
        self.refresh = hz // 32
        self.counts_delayed = rules.delayed_ack
        if rules.bic_start:
            self.ssthresh = _BIC_SSTHRESH
        return self.forget()

    def segments_acked(
        self,
        count: cython.longlong,
        rtt_us: cython.longlong,
        now_jiffy: cython.longlong,
        now_us: cython.longlong,
        open_state: cython.bint,
    ) -> cython.int:
        """Track how many segments an ACK acknowledges, in 1/16."""
        if open_state:
            self.ack_ratio += count - (self.ack_ratio >> 4)
        return 0

    def avoid(
        self,
        ack: cython.longlong,
        snd_nxt: cython.longlong,
        now_jiffy: cython.longlong,
        acked: cython.longlong,
    ) -> cython.int:
        """`bictcp_cong_avoid`."""
        if self.in_slow_start():
            acked = self._slow_start(acked)
            if acked == 0:
                return 0
        self._update(now_jiffy)
        self._additive(self.count, acked)
        return 0

    def least(self) -> cython.longlong:
        """No lower than the threshold."""
        return self.ssthresh

    def forget(self) -> cython.int:
        """`bictcp_reset`."""
        self.count = 0
        self.last_max_cwnd = 0
        self.loss_cwnd = 0
        self.last_cwnd = 0
        self.last_jiffy = 0
        self.ack_ratio = 32
        return 0

    def undo_cwnd(self) -> cython.longlong:
        """`bictcp_undo_cwnd`."""
        return self.cwnd if self.cwnd > self.last_max_cwnd else self.last_max_cwnd

    def _update(self, now_jiffy: cython.longlong) -> cython.int:
        """`bictcp_update`: how many ACKs raise the window by one segment."""
        cwnd: cython.longlong = self.cwnd
        distance: cython.longlong
        if self.last_cwnd == cwnd and now_jiffy - self.last_jiffy <= self.refresh:
            return 0
        self.last_cwnd = cwnd
        self.last_jiffy = now_jiffy
        if cwnd <= 14:
            self.count = cwnd
            return 0
        if cwnd < self.last_max_cwnd:
            distance = (self.last_max_cwnd - cwnd) // 4
            if distance > 16:
                self.count = cwnd // 16
            elif distance <= 1:
                self.count = cwnd * 20 // 4
            else:
                self.count = cwnd // distance
        elif cwnd < self.last_max_cwnd + 4:
            self.count = cwnd * 20 // 4
        elif cwnd < self.last_max_cwnd + 16 * 3:
            self.count = cwnd * 3 // (cwnd - self.last_max_cwnd)
        else:
            self.count = cwnd // 16
        if self.loss_cwnd == 0 and self.count > 20:
            self.count = 20
        if self.counts_delayed:
            self.count = (self.count << 4) // self.ack_ratio
        if self.count == 0:
            self.count = 1
        return 0

    def reduced(self) -> cython.longlong:
        """`bictcp_recalc_ssthresh`: fast convergence, beta 819/1024."""
        cwnd: cython.longlong = self.cwnd
        if cwnd < self.last_max_cwnd:
            self.last_max_cwnd = cwnd * (1024 + 819) // 2048
        else:
            self.last_max_cwnd = cwnd
        self.loss_cwnd = cwnd
        if cwnd <= 14:
            return cwnd >> 1 if cwnd >> 1 > 2 else 2
        return cwnd * 819 // 1024 if cwnd * 819 // 1024 > 2 else 2
