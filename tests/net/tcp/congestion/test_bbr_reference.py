"""BBR against tcp_bbr.c of Linux 5.1 to 6.18, written out with the kernel's names, ACK by ACK."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.kernel.random import stream
from simnet.net.tcp.congestion.bbr import DRAIN, PROBE_BW, PROBE_RTT, STARTUP, Bbr, MaxFilter
from simnet.net.tcp.recovery.recovery import LOSS, OPEN, RECOVERY
from simnet.net.tcp.rules.sender_version import sender_rules
from tests.house.examples import examples
from tests.net.parts import make_congestion
from tests.net.tcp.congestion.test_rate import Kernel as Rate
from tests.net.tcp.congestion.test_rate import Sent

HZ = 250
MSS = 1448
CLAMP = 65_535
KEPT = False
ENDLESS = 0x7FFFFFFF
NO_RTT = 1 << 32
UNIT, HIGH, DRAINS = 256, 739, 88
GAINS = [320, 192] + [256] * 6


class Sample(NamedTuple):
    """`struct rate_sample`, and what of `struct tcp_sock` an ACK has changed."""

    delivered: int
    interval_us: int
    prior_delivered: int
    acked_sacked: int
    losses: int
    prior_in_flight: int
    is_app_limited: bool
    rtt_us: int
    is_ack_delayed: bool
    in_flight: int
    ca_state: int
    edt_us: int


@dataclass
class MinMax:
    """`struct minmax`: three samples, the best first."""

    samples: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)] * 3)

    @property
    def best(self) -> int:
        return self.samples[0][1]

    def running_max(self, window: int, time: int, measured: int) -> None:
        last = (time, measured)
        first, second, third = self.samples
        if measured >= first[1] or time - third[0] > window:
            self.samples = [last] * 3
            return
        if measured >= second[1]:
            second = third = last
        elif measured >= third[1]:
            third = last
        age = time - first[0]
        if age > window:
            first, second, third = second, third, last
            if time - first[0] > window:
                first, second, third = second, third, last
        elif second[0] == first[0] and age > window // 4:
            second = third = last
        elif third[0] == second[0] and age > window // 2:
            third = last
        self.samples = [first, second, third]


class Kernel:
    """`struct bbr`, and what of `struct tcp_sock` it changes."""

    def __init__(self, rate: Rate, cwnd: int, path: str) -> None:
        self.rate, self.cwnd, self.ssthresh = rate, cwnd, ENDLESS
        self.draws = stream(1, path)
        self.jiffies = self.lost = 0
        self.bw, self.mode, self.cycle_idx, self.cycle_mstamp = MinMax(), STARTUP, 0, 0
        self.min_rtt_us, self.min_rtt_stamp = NO_RTT, 0
        self.rtt_cnt = self.next_rtt_delivered = self.prior_cwnd = 0
        self.prev_ca_state = OPEN
        self.packet_conservation = self.round_start = self.idle_restart = False
        self.probe_rtt_done_stamp, self.probe_rtt_round_done = 0, False
        self.full_bw_reached, self.full_bw, self.full_bw_cnt = False, 0, 0
        self.pacing_gain = self.cwnd_gain = HIGH
        self.epoch_mstamp = self.epoch_acked = self.win_rtts = self.win_idx = 0
        self.extra_acked = [0, 0]
        self.has_seen_rtt = False
        self.pacing_rate = self.bytes_per_s((cwnd << 24) // 1000, HIGH)
        self.reset_lt()

    # -- rates and windows ------------------------------------------------------------------

    @property
    def used_bw(self) -> int:
        return self.lt_bw if self.lt_use_bw else self.bw.best

    @staticmethod
    def bytes_per_s(bw: int, gain: int) -> int:
        return (bw * MSS * gain >> 8) * 990_000 >> 24

    def set_pacing_rate(self, gain: int) -> None:
        rate = self.bytes_per_s(self.used_bw, gain)
        if self.full_bw_reached or rate > self.pacing_rate:
            self.pacing_rate = rate

    def min_tso_segs(self) -> int:
        return 1 if self.pacing_rate < 150_000 else 2

    def tso_segs_goal(self) -> int:
        return min(max(min(self.pacing_rate >> 10, 65_215) // MSS, self.min_tso_segs()), 127)

    def bdp(self, bw: int, gain: int) -> int:
        if self.min_rtt_us == NO_RTT:
            return 10
        return -((-(bw * self.min_rtt_us * gain >> 8)) // (1 << 24))

    def budget(self, cwnd: int) -> int:
        cwnd += 3 * self.tso_segs_goal()
        cwnd += cwnd % 2
        return cwnd + 2 * (self.mode == PROBE_BW and self.cycle_idx == 0)

    def inflight(self, gain: int) -> int:
        return self.budget(self.bdp(self.bw.best, gain))

    def in_net_at_edt(self, now: int, edt_us: int) -> int:
        goal = self.tso_segs_goal() if self.pacing_gain > UNIT else 0
        return max(now + goal - (self.used_bw * edt_us >> 24), 0)

    def save_cwnd(self) -> None:
        good = self.prev_ca_state < RECOVERY and self.mode != PROBE_RTT
        self.prior_cwnd = self.cwnd if good else max(self.prior_cwnd, self.cwnd)

    # -- events -----------------------------------------------------------------------------

    def lose(self) -> None:
        """`bbr_ssthresh`."""
        self.save_cwnd()

    def time_out(self) -> None:
        """`bbr_set_state` with TCP_CA_Loss."""
        self.prev_ca_state, self.full_bw, self.round_start = LOSS, 0, True
        self.sample_lt(1, limited=False)

    def undo(self) -> None:
        """`bbr_undo_cwnd`."""
        self.full_bw = self.full_bw_cnt = 0
        self.reset_lt()

    def tx_start(self, now_us: int) -> None:
        """`bbr_cwnd_event`."""
        if not self.rate.app_limited:
            return
        self.idle_restart, self.epoch_mstamp, self.epoch_acked = True, now_us, 0
        if self.mode == PROBE_BW:
            self.set_pacing_rate(UNIT)
        elif self.mode == PROBE_RTT:
            self.check_probe_rtt_done()

    def main(self, rs: Sample, srtt: int) -> None:
        """`bbr_main`."""
        self.update_bw(rs)
        if rs.acked_sacked > 0 and rs.delivered >= 0 and rs.interval_us > 0:
            self.update_ack_aggregation(rs)
        if self.mode == PROBE_BW and self.is_next_cycle_phase(rs):
            self.advance_cycle_phase()
        self.check_full_bw_reached(rs)
        self.check_drain(rs)
        self.update_min_rtt(rs)
        self.pacing_gain, self.cwnd_gain = {
            STARTUP: (HIGH, HIGH),
            DRAIN: (DRAINS, HIGH),
            PROBE_BW: (UNIT if self.lt_use_bw else GAINS[self.cycle_idx], 2 * UNIT),
            PROBE_RTT: (UNIT, UNIT),
        }[self.mode]
        if not self.has_seen_rtt and srtt:
            self.has_seen_rtt = True
            self.pacing_rate = self.bytes_per_s((self.cwnd << 24) // max(srtt >> 3, 1), HIGH)
        self.set_pacing_rate(self.pacing_gain)
        self.set_cwnd(rs)

    # -- the model --------------------------------------------------------------------------

    def update_bw(self, rs: Sample) -> None:
        self.round_start = False
        if rs.delivered < 0 or rs.interval_us <= 0:
            return
        if rs.prior_delivered >= self.next_rtt_delivered:
            self.next_rtt_delivered = self.rate.delivered
            self.rtt_cnt += 1
            self.round_start, self.packet_conservation = True, False
        self.sample_lt(rs.losses, limited=rs.is_app_limited)
        bw = (rs.delivered << 24) // rs.interval_us
        if not rs.is_app_limited or bw >= self.bw.best:
            self.bw.running_max(10, self.rtt_cnt, bw)

    def update_ack_aggregation(self, rs: Sample) -> None:
        if self.round_start:
            self.win_rtts += 1
            if self.win_rtts == 5:
                self.win_rtts, self.win_idx = 0, 1 - self.win_idx
                self.extra_acked[self.win_idx] = 0
        expected = self.used_bw * (self.rate.delivered_us - self.epoch_mstamp) >> 24
        if self.epoch_acked <= expected or self.epoch_acked + rs.acked_sacked >= 1 << 20:
            self.epoch_acked, self.epoch_mstamp, expected = 0, self.rate.delivered_us, 0
        self.epoch_acked = min(0xFFFFF, self.epoch_acked + rs.acked_sacked)
        extra = min(self.epoch_acked - expected, self.cwnd)
        self.extra_acked[self.win_idx] = max(self.extra_acked[self.win_idx], extra)

    def check_full_bw_reached(self, rs: Sample) -> None:
        if self.full_bw_reached or not self.round_start or rs.is_app_limited:
            return
        if self.bw.best >= self.full_bw * 320 >> 8:
            self.full_bw, self.full_bw_cnt = self.bw.best, 0
            return
        self.full_bw_cnt += 1
        self.full_bw_reached = self.full_bw_cnt >= 3

    def check_drain(self, rs: Sample) -> None:
        if self.mode == STARTUP and self.full_bw_reached:
            self.mode, self.ssthresh = DRAIN, self.inflight(UNIT)
        if self.mode == DRAIN and self.in_net_at_edt(rs.in_flight, rs.edt_us) <= self.inflight(
            UNIT
        ):
            self.reset_probe_bw_mode()

    def update_min_rtt(self, rs: Sample) -> None:
        expired = self.jiffies > self.min_rtt_stamp + 10 * HZ
        shorter = rs.rtt_us <= self.min_rtt_us or (expired and not rs.is_ack_delayed)
        if rs.rtt_us >= 0 and shorter:
            self.min_rtt_us, self.min_rtt_stamp = rs.rtt_us, self.jiffies
        if expired and not self.idle_restart and self.mode != PROBE_RTT:
            # the window is kept as one that was cut: the mode has changed already
            self.mode, self.probe_rtt_done_stamp = PROBE_RTT, 0
            self.save_cwnd()
        if self.mode == PROBE_RTT:
            self.rate.app_limited = self.rate.delivered + rs.in_flight or 1
            if self.probe_rtt_done_stamp:
                self.probe_rtt_round_done |= self.round_start
                if self.probe_rtt_round_done:
                    self.check_probe_rtt_done()
            elif rs.in_flight <= 4:
                self.probe_rtt_done_stamp = self.jiffies + HZ // 5
                self.probe_rtt_round_done = False
                self.next_rtt_delivered = self.rate.delivered
        if rs.delivered > 0:
            self.idle_restart = False

    def check_probe_rtt_done(self) -> None:
        if self.probe_rtt_done_stamp and self.jiffies > self.probe_rtt_done_stamp:
            self.min_rtt_stamp = self.jiffies
            self.cwnd = max(self.cwnd, self.prior_cwnd)
            if self.full_bw_reached:
                self.reset_probe_bw_mode()
            else:
                self.mode = STARTUP

    # -- the cycle --------------------------------------------------------------------------

    def reset_probe_bw_mode(self) -> None:
        self.mode, self.cycle_idx = PROBE_BW, 7 - self.draws.below(7)
        self.advance_cycle_phase()

    def advance_cycle_phase(self) -> None:
        self.cycle_idx, self.cycle_mstamp = self.cycle_idx + 1 & 7, self.rate.delivered_us

    def is_next_cycle_phase(self, rs: Sample) -> bool:
        whole = self.rate.delivered_us - self.cycle_mstamp > self.min_rtt_us
        if self.pacing_gain == UNIT:
            return whole
        inflight = self.in_net_at_edt(rs.prior_in_flight, rs.edt_us)
        if self.pacing_gain > UNIT:
            return whole and (rs.losses > 0 or inflight >= self.inflight(self.pacing_gain))
        return whole or inflight <= self.inflight(UNIT)

    # -- the window -------------------------------------------------------------------------

    def set_cwnd(self, rs: Sample) -> None:
        acked = rs.acked_sacked
        if acked:
            conserves = self.recover_or_restore(rs)
            if not conserves:
                aggregated = 0
                if self.full_bw_reached:
                    aggregated = min(max(self.extra_acked), self.used_bw * 100_000 >> 24)
                target = self.budget(self.bdp(self.used_bw, self.cwnd_gain) + aggregated)
                if self.full_bw_reached:
                    self.cwnd = min(self.cwnd + acked, target)
                elif self.cwnd < target or self.rate.delivered < 10:
                    self.cwnd += acked
                self.cwnd = max(self.cwnd, 4)
        self.cwnd = min(self.cwnd, CLAMP)
        if self.mode == PROBE_RTT:
            self.cwnd = min(self.cwnd, 4)

    def recover_or_restore(self, rs: Sample) -> bool:
        before, self.prev_ca_state = self.prev_ca_state, rs.ca_state
        if rs.losses:
            self.cwnd = max(self.cwnd - rs.losses, 1)
        if rs.ca_state == RECOVERY != before:
            self.packet_conservation, self.next_rtt_delivered = True, self.rate.delivered
            self.cwnd = rs.in_flight + rs.acked_sacked
        elif before >= RECOVERY > rs.ca_state:
            self.cwnd, self.packet_conservation = max(self.cwnd, self.prior_cwnd), False
        if self.packet_conservation:
            self.cwnd = max(self.cwnd, rs.in_flight + rs.acked_sacked)
        return self.packet_conservation

    # -- a policer --------------------------------------------------------------------------

    def reset_lt_interval(self) -> None:
        self.lt_last_stamp = self.rate.delivered_us // 1000
        self.lt_last_delivered, self.lt_last_lost, self.lt_rtt_cnt = (
            self.rate.delivered,
            self.lost,
            0,
        )

    def reset_lt(self) -> None:
        self.lt_bw, self.lt_use_bw, self.lt_is_sampling = 0, False, False
        self.reset_lt_interval()

    def sample_lt(self, losses: int, *, limited: bool) -> None:
        if self.lt_use_bw:
            if self.mode == PROBE_BW and self.round_start:
                self.lt_rtt_cnt += 1
                if self.lt_rtt_cnt >= 48:
                    self.reset_lt()
                    self.reset_probe_bw_mode()
            return
        if not self.lt_is_sampling:
            if not losses:
                return
            self.reset_lt_interval()
            self.lt_is_sampling = True
        if limited:
            self.reset_lt()
            return
        self.lt_rtt_cnt += self.round_start
        if self.lt_rtt_cnt < 4:
            return
        if self.lt_rtt_cnt > 16:
            self.reset_lt()
            return
        lost, delivered = (
            self.lost - self.lt_last_lost,
            self.rate.delivered - self.lt_last_delivered,
        )
        time_ms = self.rate.delivered_us // 1000 - self.lt_last_stamp
        if losses and delivered and lost << 8 >= 50 * delivered and time_ms >= 1:
            self.lt_interval_done((delivered << 24) // (time_ms * 1000))

    def lt_interval_done(self, bw: int) -> None:
        differs = abs(bw - self.lt_bw)
        alike = differs * UNIT <= 32 * self.lt_bw or self.bytes_per_s(differs, UNIT) <= 500
        if self.lt_bw and alike:
            self.lt_bw, self.lt_use_bw = bw + self.lt_bw >> 1, True
            self.pacing_gain, self.lt_rtt_cnt = UNIT, 0
            return
        self.lt_bw = bw
        self.reset_lt_interval()


class Both:
    """The two of them, and the segments that are on their way."""

    def __init__(self, cwnd: int) -> None:
        made = make_congestion(
            "bbr", cwnd, mss=MSS, hz=HZ, rules=sender_rules("6.6"), seed=1, path="way"
        )
        assert isinstance(made, Bbr)
        self.bbr = made
        self.kernel = Kernel(Rate(), cwnd, "way.bbr0")
        self.flying: dict[int, Sent] = {}
        self.number, self.now_us = 0, 1000
        self.least_rtt_us = NO_RTT
        self.modes: set[int] = set()

    @property
    def jiffy(self) -> int:
        return self.now_us * HZ // 10**6

    def send(self, count: int) -> None:
        sample = self.bbr.rate
        if not self.flying:
            self.kernel.jiffies = self.jiffy
            self.bbr.first_sent(self.now_us, self.jiffy)
            self.kernel.tx_start(self.now_us)
            self.compare()
        for number in range(self.number, self.number + count):
            alone = not self.flying
            sample.sent(number, min(self.flying, default=number), alone, self.now_us)
            self.flying[number] = self.kernel.rate.send(self.now_us, alone=alone)
        self.number += count

    def ack(self, count: int, lost: int, phase: Phase) -> None:
        """`count` segments are over, of which so many are lost."""
        sample, kernel, before = self.bbr.rate, self.kernel, len(self.flying)
        over = sorted(self.flying)[:count]
        sent = [self.flying.pop(number) for number in over]
        came = sent[: count - lost]
        kernel.lost += lost
        kernel.jiffies = self.jiffy
        rtt_us = self.now_us - came[-1].at_us if came else -1
        if came:
            self.least_rtt_us = min(self.least_rtt_us, rtt_us)
        sample.begin(self.now_us, before)
        for number, one in zip(over, came, strict=False):
            sample.came(number, one.at_us)
        sample.end(len(came), lost, kernel.lost, self.least_rtt_us, KEPT)
        sample.rtt_us, sample.delayed, sample.state = rtt_us, phase.delayed, phase.state
        sample.in_flight, sample.edt_us, sample.now_jiffy = (
            len(self.flying), phase.edt_us, self.jiffy,
        )  # fmt: skip
        delivered, interval_us, limited = kernel.rate.ack(came, self.now_us, self.least_rtt_us)
        srtt = 0 if phase.unmeasured else 8 * max(rtt_us, 0)
        self.bbr.control(srtt)
        kernel.main(
            Sample(
                delivered, interval_us, kernel.rate.delivered - delivered, len(came), lost, before,
                limited, rtt_us, phase.delayed, len(self.flying), phase.state, phase.edt_us,
            ),
            srtt,
        )  # fmt: skip
        self.modes.add(kernel.mode)
        self.compare()

    def happens(self, event: str) -> None:
        bbr, kernel = self.bbr, self.kernel
        if event == "loss":
            bbr.lower_threshold()
            kernel.save_cwnd()
        elif event == "timeout":
            bbr.enters_loss()
            kernel.time_out()
            bbr.set_window(1)
            kernel.cwnd = 1
        elif event == "undo":
            bbr.set_window(bbr.undo_cwnd())
            kernel.undo()
        elif event == "idle":
            self.now_us += 10_400_000
        self.compare()

    def round(self, phase: Phase) -> None:
        """A window goes, and its ACKs come; `left` segments stay on their way."""
        if phase.limited:
            self.bbr.rate.limit_by_application(len(self.flying))
            self.kernel.rate.app_limited = max(self.kernel.rate.delivered + len(self.flying), 1)
        self.send(phase.segments)
        for left in range(phase.acks, 0, -1):
            self.now_us += phase.rtt_us // phase.acks
            count = max(len(self.flying) - phase.left, 0) // left
            self.ack(count, int(count * phase.lost), phase)

    def compare(self) -> None:
        bbr, kernel = self.bbr, self.kernel
        assert (
            bbr.cwnd, bbr.ssthresh, bbr.pacing_rate, bbr.mode, bbr.pacing_gain, bbr.cwnd_gain,
            bbr.min_tso_segments(), bool(bbr.policed), bbr.rounds, bbr.min_rtt_us,
        ) == (
            kernel.cwnd, kernel.ssthresh, kernel.pacing_rate, kernel.mode, kernel.pacing_gain,
            kernel.cwnd_gain, kernel.min_tso_segs(), kernel.lt_use_bw, kernel.rtt_cnt,
            kernel.min_rtt_us,
        )  # fmt: skip


class Phase(NamedTuple):
    """Some rounds that are alike, after an event."""

    event: str
    rounds: int
    segments: int
    acks: int
    rtt_us: int
    lost: float
    state: int
    left: int
    edt_us: int
    limited: bool
    delayed: bool
    unmeasured: bool


phases = st.builds(
    Phase,
    event=st.sampled_from(["none", "none", "loss", "loss", "timeout", "undo", "idle"]),
    rounds=st.sampled_from([1, 2, 4, 6, 9, 50]),
    segments=st.sampled_from([1, 3, 12, 40, 160]),
    acks=st.sampled_from([1, 1, 2, 3]),
    rtt_us=st.sampled_from([180, 900, 20_000, 20_500, 60_000]),
    lost=st.sampled_from([0.0, 0.0, 0.0, 0.1, 0.2, 0.5]),
    state=st.sampled_from([OPEN, OPEN, OPEN, RECOVERY, LOSS]),
    left=st.sampled_from([0, 0, 3, 10, 100, 400]),
    edt_us=st.sampled_from([0, 0, 700, 15_000]),
    limited=st.sampled_from([False, False, False, True]),
    delayed=st.booleans(),
    unmeasured=st.sampled_from([False, False, True]),
)


@given(st.sampled_from([1, 4, 10, 64]), st.lists(phases, min_size=2, max_size=10))
@settings(max_examples=examples(150))
def test_each_window_and_rate_is_the_kernels(cwnd: int, found: list[Phase]) -> None:
    both = Both(cwnd)
    for phase in found:
        both.happens(phase.event)
        for _ in range(phase.rounds):
            both.round(phase)


@given(
    st.lists(
        st.tuples(st.sampled_from([0, 1, 1, 2, 3, 7, 15]), st.integers(0, 50)),
        min_size=20,
        max_size=60,
    )
)
def test_the_largest_of_the_last_rounds_is_the_kernels(values: list[tuple[int, int]]) -> None:
    found, kernel, now = MaxFilter(), MinMax(), 0
    for number, (gap, value) in enumerate(values):
        now += gap
        # the longer it takes the less there is: old ones stay the largest
        measured = value + 3 * (len(values) - number)
        found.add(10, now, measured)
        kernel.running_max(10, now, measured)
        assert found.value == kernel.best
