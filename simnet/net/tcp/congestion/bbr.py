"""BBR: the rate follows from what the path delivers at most, the window from that and its delay.

Source: net/ipv4/tcp_bbr.c of Linux 5.1 to 6.18 (version 1), lib/win_minmax.c; Cardwell, Cheng,
Gunn, Yeganeh and Jacobson, "BBR: Congestion-Based Congestion Control", ACM Queue 14 (5), 2016.
Rates are segments a microsecond times 2^24, gains times 2^8. A loss does not change the rate,
unless it is that of a policer (`lt_bw`).
"""

from __future__ import annotations

import cython

from simnet.kernel.random import RandomStream
from simnet.net.tcp.congestion.control import Congestion
from simnet.net.tcp.congestion.rate import RateSample
from simnet.net.tcp.rules.sender_version import SenderRules

#: what it is at
STARTUP: cython.int = 0
DRAIN: cython.int = 1
PROBE_BW: cython.int = 2
PROBE_RTT: cython.int = 3
#: gains: 2/ln(2), and its inverse
UNIT: cython.longlong = 256
HIGH_GAIN: cython.longlong = 256 * 2885 // 1000 + 1
DRAIN_GAIN: cython.longlong = 256 * 1000 // 2885
_PHASES: cython.int = 8
_RANDOM_PHASES: cython.longlong = 7
_BW_SCALE: cython.int = 24
_BW_UNIT: cython.longlong = 1 << 24
_BW_ROUNDS: cython.longlong = 10
_MIN_RTT_S: cython.longlong = 10
_PROBE_RTT_MS: cython.longlong = 200
_LEAST_CWND: cython.longlong = 4
_INITIAL_CWND: cython.longlong = 10
_FULL_ROUNDS: cython.int = 3
_MIN_TSO_BYTES: cython.longlong = 1_200_000 >> 3
_GSO_BYTES: cython.longlong = 65536 - 1 - 320
_MOST_TSO_SEGMENTS: cython.longlong = 0x7F
_PACING_SHIFT: cython.int = 10
# the pacing margin of 1 %
_RATE_PER_S: cython.longlong = 10**6 // 100 * 99
_LT_ROUNDS: cython.longlong = 4
_LT_LOSS: cython.longlong = 50
_LT_DIFFERENCE: cython.longlong = 4000 // 8
_LT_MOST_ROUNDS: cython.longlong = 48
_EXTRA_ROUNDS: cython.longlong = 5
_EXTRA_MOST_US: cython.longlong = 100_000
_EPOCH_ACKED: cython.longlong = 1 << 20
_MS_US: cython.longlong = 1000
_NEVER_MEASURED: cython.longlong = 1 << 32
_RECOVERY: cython.int = 3
_LOSS: cython.int = 4


@cython.cfunc
def phase_gain(index: cython.int) -> cython.longlong:
    """`bbr_pacing_gain`: of the eight phases, one probes, one drains, six cruise."""
    if index == 0:
        return UNIT * 5 // 4
    if index == 1:
        return UNIT * 3 // 4
    return UNIT


@cython.final
@cython.cclass
class MaxFilter:
    """`minmax_running_max`: the largest value of a sliding window, by three samples."""

    value: cython.longlong = 0
    at: cython.longlong = 0
    second: cython.longlong = 0
    second_at: cython.longlong = 0
    third: cython.longlong = 0
    third_at: cython.longlong = 0

    def add(
        self, window: cython.longlong, now: cython.longlong, value: cython.longlong
    ) -> cython.int:
        """A value has been measured."""
        if value >= self.value or now - self.third_at > window:
            self.value = self.second = self.third = value
            self.at = self.second_at = self.third_at = now
            return 0
        if value >= self.second:
            self.second = self.third = value
            self.second_at = self.third_at = now
        elif value >= self.third:
            self.third = value
            self.third_at = now
        return self._age(window, now, value)

    def _age(
        self, window: cython.longlong, now: cython.longlong, value: cython.longlong
    ) -> cython.int:
        """`minmax_subwin_update`."""
        if now - self.at > window:
            self._shift(now, value)
            if now - self.at > window:
                self._shift(now, value)
        elif self.second_at == self.at and now - self.at > window // 4:
            self.second = self.third = value
            self.second_at = self.third_at = now
        elif self.third_at == self.second_at and now - self.at > window // 2:
            self.third = value
            self.third_at = now
        return 0

    def _shift(self, now: cython.longlong, value: cython.longlong) -> cython.int:
        self.value = self.second
        self.at = self.second_at
        self.second = self.third
        self.second_at = self.third_at
        self.third = value
        self.third_at = now
        return 0


@cython.final
@cython.cclass
class Bbr(Congestion):
    """BBR, version 1.

    Attributes:
        mode: `STARTUP` to `PROBE_RTT`.
        bandwidth: most of the last ten rounds.
        min_rtt_us: shortest round trip of the last ten seconds.
        rounds: round trips so far.
        pacing_gain, cwnd_gain: of now.
        pacing_rate: bytes a second.
        full: the pipe has been full (`full_bw_reached`).
        policed: the rate is taken for that of a policer (`lt_use_bw`).
        probes: how often it was in `PROBE_RTT`.
    """

    mode: cython.int = 0
    bandwidth: MaxFilter = None
    draws: RandomStream = None
    hz: cython.longlong = 0
    min_rtt_us: cython.longlong = 0
    min_rtt_jiffy: cython.longlong = 0
    probe_done_jiffy: cython.longlong = 0
    rounds: cython.longlong = 0
    next_round: cython.longlong = 0
    cycle_us: cython.longlong = 0
    cycle: cython.int = 0
    prev_state: cython.int = 0
    conserves: cython.bint = False
    round_start: cython.bint = False
    idle_restart: cython.bint = False
    probe_round_done: cython.bint = False
    policed: cython.bint = False
    lt_sampling: cython.bint = False
    lt_rounds: cython.longlong = 0
    lt_bw: cython.longlong = 0
    lt_delivered: cython.longlong = 0
    lt_ms: cython.longlong = 0
    lt_lost: cython.longlong = 0
    full: cython.bint = False
    full_rounds: cython.int = 0
    full_bw: cython.longlong = 0
    seen_rtt: cython.bint = False
    prior_cwnd: cython.longlong = 0
    epoch_us: cython.longlong = 0
    epoch_acked: cython.longlong = 0
    extra_0: cython.longlong = 0
    extra_1: cython.longlong = 0
    extra_rounds: cython.longlong = 0
    extra_index: cython.int = 0
    pacing_gain: cython.longlong = 0
    cwnd_gain: cython.longlong = 0
    probes: cython.longlong = 0

    def start(
        self,
        initial_cwnd: cython.longlong,
        mss: cython.longlong,
        abc: cython.int,
        hz: cython.longlong,
        rules: SenderRules,
    ) -> cython.int:
        """`bbr_init`; `CongestionMaker` gives it its random numbers."""
        Congestion.start(self, initial_cwnd, mss, abc, hz, rules)
        self.controls = True
        self.sndbuf_factor = 3
        self.rate = RateSample()
        self.bandwidth = MaxFilter()
        self.hz = hz
        self.min_rtt_us = _NEVER_MEASURED
        self.mode = STARTUP
        self.pacing_gain = self.cwnd_gain = HIGH_GAIN
        # as long as no round trip is known, one millisecond
        self._init_pacing_rate(_MS_US)
        return 0

    # -- what others ask --------------------------------------------------------------------

    def reduced(self) -> cython.longlong:
        """`bbr_ssthresh`: nothing is reduced, but the window is kept for later."""
        self._save_cwnd()
        return self.ssthresh

    def undo_cwnd(self) -> cython.longlong:
        """`bbr_undo_cwnd`."""
        self.full_bw = 0
        self.full_rounds = 0
        self._reset_lt()
        return self.cwnd

    def enters_loss(self) -> cython.int:
        """`bbr_set_state`: a timeout is the end of a round."""
        self.prev_state = _LOSS
        self.full_bw = 0
        self.round_start = True
        self.rate.losses = 1
        self.rate.limited = False
        self._sample_lt()
        return 0

    def first_sent(self, now_us: cython.longlong, now_jiffy: cython.longlong) -> cython.int:
        """`bbr_cwnd_event`: a segment is sent, and nothing had been in flight."""
        if self.rate.app_limited == 0:
            return 0
        self.idle_restart = True
        self.epoch_us = now_us
        self.epoch_acked = 0
        if self.mode == PROBE_BW:
            self._set_pacing_rate(UNIT)
        elif self.mode == PROBE_RTT:
            self.rate.now_jiffy = now_jiffy
            self._check_probe_rtt_done()
        return 0

    def control(self, srtt: cython.longlong) -> cython.int:
        """`bbr_main`: an ACK has been handled, and is in `rate`; `srtt` is in eighths of us."""
        self._update_bandwidth()
        self._update_aggregation()
        if self.mode == PROBE_BW and self._phase_over():
            self._next_phase()
        self._check_full()
        self._check_drain()
        self._update_min_rtt()
        self._update_gains()
        if not self.seen_rtt and srtt > 0:
            self.seen_rtt = True
            self._init_pacing_rate(max(srtt >> 3, 1))
        self._set_pacing_rate(self.pacing_gain)
        return self._set_cwnd()

    # -- the model of the path --------------------------------------------------------------

    def _bw(self) -> cython.longlong:
        return self.lt_bw if self.policed else self.bandwidth.value

    def _update_bandwidth(self) -> cython.int:
        """`bbr_update_bw`."""
        rate: RateSample = self.rate
        bw: cython.longlong
        self.round_start = False
        if rate.delivered < 0 or rate.interval_us <= 0:
            return 0
        if rate.prior_delivered >= self.next_round:
            self.next_round = rate.total_delivered
            self.rounds += 1
            self.round_start = True
            self.conserves = False
        self._sample_lt()
        bw = rate.delivered * _BW_UNIT // rate.interval_us
        if not rate.limited or bw >= self.bandwidth.value:
            self.bandwidth.add(_BW_ROUNDS, self.rounds, bw)
        return 0

    def _update_aggregation(self) -> cython.int:
        """`bbr_update_ack_aggregation`: more came at once than the rate explains."""
        rate: RateSample = self.rate
        expected: cython.longlong
        extra: cython.longlong
        if rate.acked_sacked <= 0 or rate.delivered < 0 or rate.interval_us <= 0:
            return 0
        if self.round_start:
            self.extra_rounds = min(0x1F, self.extra_rounds + 1)
            if self.extra_rounds >= _EXTRA_ROUNDS:
                self.extra_rounds = 0
                self.extra_index = 1 - self.extra_index
                self._set_extra(0)
        expected = self._bw() * (rate.delivered_us - self.epoch_us) // _BW_UNIT
        if self.epoch_acked <= expected or self.epoch_acked + rate.acked_sacked >= _EPOCH_ACKED:
            self.epoch_acked = 0
            self.epoch_us = rate.delivered_us
            expected = 0
        self.epoch_acked = min(_EPOCH_ACKED - 1, self.epoch_acked + rate.acked_sacked)
        extra = min(self.epoch_acked - expected, self.cwnd)
        if extra > (self.extra_1 if self.extra_index else self.extra_0):
            self._set_extra(extra)
        return 0

    def _set_extra(self, extra: cython.longlong) -> cython.int:
        if self.extra_index:
            self.extra_1 = extra
        else:
            self.extra_0 = extra
        return 0

    def _check_full(self) -> cython.int:
        """`bbr_check_full_bw_reached`: three rounds in which it did not grow by a quarter."""
        if self.full or not self.round_start or self.rate.limited:
            return 0
        if self.bandwidth.value >= self.full_bw * 5 // 4:
            self.full_bw = self.bandwidth.value
            self.full_rounds = 0
            return 0
        self.full_rounds += 1
        self.full = self.full_rounds >= _FULL_ROUNDS
        return 0

    def _check_drain(self) -> cython.int:
        """`bbr_check_drain`: the queue that the beginning has made goes."""
        if self.mode == STARTUP and self.full:
            self.mode = DRAIN
            self.ssthresh = self._inflight(self.bandwidth.value, UNIT)
        if self.mode == DRAIN and self._in_network(self.rate.in_flight) <= self._inflight(
            self.bandwidth.value, UNIT
        ):
            self._probe_bandwidth()
        return 0

    def _update_min_rtt(self) -> cython.int:
        """`bbr_update_min_rtt`: after ten seconds without as short a one, empty the path."""
        rate: RateSample = self.rate
        now: cython.longlong = rate.now_jiffy
        expired: cython.bint = now > self.min_rtt_jiffy + _MIN_RTT_S * self.hz
        if rate.rtt_us >= 0 and (rate.rtt_us <= self.min_rtt_us or (expired and not rate.delayed)):
            self.min_rtt_us = rate.rtt_us
            self.min_rtt_jiffy = now
        if expired and not self.idle_restart and self.mode != PROBE_RTT:
            self.mode = PROBE_RTT
            self.probes += 1
            self._save_cwnd()
            self.probe_done_jiffy = 0
        if self.mode == PROBE_RTT:
            rate.limit_by_application(rate.in_flight)
            if self.probe_done_jiffy == 0:
                if rate.in_flight <= _LEAST_CWND:
                    self.probe_done_jiffy = now + (_PROBE_RTT_MS * self.hz + 999) // 1000
                    self.probe_round_done = False
                    self.next_round = rate.total_delivered
            else:
                if self.round_start:
                    self.probe_round_done = True
                if self.probe_round_done:
                    self._check_probe_rtt_done()
        if rate.delivered > 0:
            self.idle_restart = False
        return 0

    def _check_probe_rtt_done(self) -> cython.int:
        """`bbr_check_probe_rtt_done`."""
        if self.probe_done_jiffy == 0 or self.rate.now_jiffy <= self.probe_done_jiffy:
            return 0
        self.min_rtt_jiffy = self.rate.now_jiffy
        self.cwnd = max(self.cwnd, self.prior_cwnd)
        if self.full:
            return self._probe_bandwidth()
        self.mode = STARTUP
        return 0

    # -- the cycle of gains -----------------------------------------------------------------

    def _probe_bandwidth(self) -> cython.int:
        """`bbr_reset_probe_bw_mode`: begin anywhere but with the phase that drains."""
        self.mode = PROBE_BW
        self.cycle = _PHASES - 1 - self.draws.below(_RANDOM_PHASES)
        return self._next_phase()

    def _next_phase(self) -> cython.int:
        self.cycle = (self.cycle + 1) % _PHASES
        self.cycle_us = self.rate.delivered_us
        return 0

    def _phase_over(self) -> cython.bint:
        """`bbr_is_next_cycle_phase`."""
        rate: RateSample = self.rate
        whole: cython.bint = rate.delivered_us - self.cycle_us > self.min_rtt_us
        flight: cython.longlong
        if self.pacing_gain == UNIT:
            return whole
        flight = self._in_network(rate.prior_in_flight)
        if self.pacing_gain > UNIT:
            return whole and (
                rate.losses > 0 or flight >= self._inflight(self.bandwidth.value, self.pacing_gain)
            )
        return whole or flight <= self._inflight(self.bandwidth.value, UNIT)

    def _update_gains(self) -> cython.int:
        """`bbr_update_gains`."""
        if self.mode == STARTUP:
            self.pacing_gain = self.cwnd_gain = HIGH_GAIN
        elif self.mode == DRAIN:
            self.pacing_gain = DRAIN_GAIN
            self.cwnd_gain = HIGH_GAIN
        elif self.mode == PROBE_BW:
            self.pacing_gain = UNIT if self.policed else phase_gain(self.cycle)
            self.cwnd_gain = 2 * UNIT
        else:
            self.pacing_gain = self.cwnd_gain = UNIT
        return 0

    # -- rate and window --------------------------------------------------------------------

    def _bytes_per_s(self, bw: cython.longlong, gain: cython.longlong) -> cython.longlong:
        """`bbr_rate_bytes_per_sec`."""
        return (bw * self.mss * gain >> 8) * _RATE_PER_S >> _BW_SCALE

    def _init_pacing_rate(self, rtt_us: cython.longlong) -> cython.int:
        """`bbr_init_pacing_rate_from_rtt`."""
        self.pacing_rate = self._bytes_per_s(self.cwnd * _BW_UNIT // rtt_us, HIGH_GAIN)
        return 0

    def _set_pacing_rate(self, gain: cython.longlong) -> cython.int:
        """`bbr_set_pacing_rate`."""
        rate: cython.longlong = self._bytes_per_s(self._bw(), gain)
        if self.full or rate > self.pacing_rate:
            self.pacing_rate = rate
        return 0

    def min_tso_segments(self) -> cython.longlong:
        """`bbr_min_tso_segs`."""
        return 1 if self.pacing_rate < _MIN_TSO_BYTES else 2

    def _tso_goal(self) -> cython.longlong:
        """`bbr_tso_segs_goal`."""
        length: cython.longlong = min(self.pacing_rate >> _PACING_SHIFT, _GSO_BYTES)
        return min(max(length // self.mss, self.min_tso_segments()), _MOST_TSO_SEGMENTS)

    def _bdp(self, bw: cython.longlong, gain: cython.longlong) -> cython.longlong:
        """`bbr_bdp`: what the path holds, times a gain."""
        if self.min_rtt_us == _NEVER_MEASURED:
            return _INITIAL_CWND
        return ((bw * self.min_rtt_us * gain >> 8) + _BW_UNIT - 1) // _BW_UNIT

    def _budget(self, cwnd: cython.longlong) -> cython.longlong:
        """`bbr_quantization_budget`: and what both hosts have in hand."""
        cwnd += 3 * self._tso_goal()
        cwnd = (cwnd + 1) // 2 * 2
        if self.mode == PROBE_BW and self.cycle == 0:
            cwnd += 2
        return cwnd

    def _inflight(self, bw: cython.longlong, gain: cython.longlong) -> cython.longlong:
        """`bbr_inflight`."""
        return self._budget(self._bdp(bw, gain))

    def _in_network(self, in_flight: cython.longlong) -> cython.longlong:
        """`bbr_packets_in_net_at_edt`: what is on its way when the next segment may leave."""
        delivered: cython.longlong = self._bw() * self.rate.edt_us >> _BW_SCALE
        if self.pacing_gain > UNIT:
            in_flight += self._tso_goal()
        return max(in_flight - delivered, 0)

    def _set_cwnd(self) -> cython.int:
        """`bbr_set_cwnd`."""
        acked: cython.longlong = self.rate.acked_sacked
        cwnd: cython.longlong = self.cwnd
        target: cython.longlong
        if acked > 0:
            cwnd = self._recovered_cwnd(acked)
            if not self.conserves:
                target = self._bdp(self._bw(), self.cwnd_gain)
                target = self._budget(target + self._aggregation_cwnd())
                if self.full:
                    cwnd = min(cwnd + acked, target)
                elif cwnd < target or self.rate.total_delivered < _INITIAL_CWND:
                    cwnd += acked
                cwnd = max(cwnd, _LEAST_CWND)
        self.cwnd = min(cwnd, self.clamp)
        if self.mode == PROBE_RTT:
            self.cwnd = min(self.cwnd, _LEAST_CWND)
        return 0

    def _recovered_cwnd(self, acked: cython.longlong) -> cython.longlong:
        """`bbr_set_cwnd_to_recover_or_restore`: first, as much goes out as comes."""
        rate: RateSample = self.rate
        cwnd: cython.longlong = self.cwnd
        if rate.losses > 0:
            cwnd = max(cwnd - rate.losses, 1)
        if rate.state == _RECOVERY and self.prev_state != _RECOVERY:
            self.conserves = True
            self.next_round = rate.total_delivered
            cwnd = rate.in_flight + acked
        elif self.prev_state >= _RECOVERY and rate.state < _RECOVERY:
            cwnd = max(cwnd, self.prior_cwnd)
            self.conserves = False
        self.prev_state = rate.state
        if self.conserves:
            return max(cwnd, rate.in_flight + acked)
        return cwnd

    def _aggregation_cwnd(self) -> cython.longlong:
        """`bbr_ack_aggregation_cwnd`."""
        if not self.full:
            return 0
        return min(max(self.extra_0, self.extra_1), self._bw() * _EXTRA_MOST_US // _BW_UNIT)

    def _save_cwnd(self) -> cython.int:
        """`bbr_save_cwnd`."""
        if self.prev_state < _RECOVERY and self.mode != PROBE_RTT:
            self.prior_cwnd = self.cwnd
        else:
            self.prior_cwnd = max(self.prior_cwnd, self.cwnd)
        return 0

    # -- a policer --------------------------------------------------------------------------

    def _reset_lt_interval(self) -> cython.int:
        self.lt_ms = self.rate.delivered_us // _MS_US
        self.lt_delivered = self.rate.total_delivered
        self.lt_lost = self.rate.total_lost
        self.lt_rounds = 0
        return 0

    def _reset_lt(self) -> cython.int:
        """`bbr_reset_lt_bw_sampling`."""
        self.lt_bw = 0
        self.policed = False
        self.lt_sampling = False
        return self._reset_lt_interval()

    def _sample_lt(self) -> cython.int:
        """`bbr_lt_bw_sampling`: twice the same rate with many losses is that of a policer."""
        rate: RateSample = self.rate
        if self.policed:
            return self._count_policed()
        if not self.lt_sampling:
            if rate.losses == 0:
                return 0
            self._reset_lt_interval()
            self.lt_sampling = True
        if self.round_start and not rate.limited:
            self.lt_rounds += 1
        if rate.limited or self.lt_rounds > 4 * _LT_ROUNDS:
            return self._reset_lt()
        if rate.losses > 0 and self.lt_rounds >= _LT_ROUNDS:
            self._end_lt_interval()
        return 0

    def _count_policed(self) -> cython.int:
        """So many rounds at the rate of a policer, then look again."""
        if self.mode == PROBE_BW and self.round_start:
            self.lt_rounds += 1
            if self.lt_rounds >= _LT_MOST_ROUNDS:
                self._reset_lt()
                self._probe_bandwidth()
        return 0

    def _end_lt_interval(self) -> cython.int:
        """A loss may end the interval, if many were lost in it."""
        rate: RateSample = self.rate
        lost: cython.longlong = rate.total_lost - self.lt_lost
        delivered: cython.longlong = rate.total_delivered - self.lt_delivered
        time_ms: cython.longlong = rate.delivered_us // _MS_US - self.lt_ms
        if delivered == 0 or lost << 8 < _LT_LOSS * delivered or time_ms < 1:
            return 0
        return self._lt_interval_done(delivered * _BW_UNIT // (time_ms * _MS_US))

    def _lt_interval_done(self, bw: cython.longlong) -> cython.int:
        """`bbr_lt_bw_interval_done`."""
        difference: cython.longlong = bw - self.lt_bw if bw > self.lt_bw else self.lt_bw - bw
        if self.lt_bw > 0 and (
            difference * UNIT <= UNIT // 8 * self.lt_bw
            or self._bytes_per_s(difference, UNIT) <= _LT_DIFFERENCE
        ):
            self.lt_bw = (bw + self.lt_bw) >> 1
            self.policed = True
            self.pacing_gain = UNIT
            self.lt_rounds = 0
            return 0
        self.lt_bw = bw
        return self._reset_lt_interval()
