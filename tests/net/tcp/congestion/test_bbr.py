"""BBR's state machine (tcp_bbr.c): what it makes of the rate and the delay of a path."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.net.tcp.congestion.bbr import DRAIN, PROBE_BW, PROBE_RTT, STARTUP, Bbr, MaxFilter
from simnet.net.tcp.recovery.recovery import LOSS, OPEN, RECOVERY
from simnet.net.tcp.rules.sender_version import congestion_controls, sender_rules
from tests.net.parts import make_congestion

MSS = 1448
HZ = 1000
RTT_US = 40_000
FULL = 2.0**24


class Way:
    """A path that delivers so many segments a microsecond, after so many of delay.

    Attributes:
        bbr: what sends over it; each `trip` it has a window under way, sent at once.
    """

    def __init__(self, rate: float, rtt_us: int = RTT_US, seed: int = 1) -> None:
        made = make_congestion(
            "bbr", 10, mss=MSS, hz=HZ, rules=sender_rules("6.6"), seed=seed, path="way"
        )
        assert isinstance(made, Bbr)
        self.bbr, self.rate, self.rtt_us = made, rate, rtt_us
        self.now_us = self.number = self.lost = 0
        self.now_us = 1000
        self.gains: list[float] = []

    def trip(
        self,
        count: int = 0,
        *,
        lost: int = 0,
        state: int = OPEN,
        limited: bool = False,
        flight: int = 0,
    ) -> None:
        """A window goes there, its ACK comes back; `flight` is in flight then."""
        sample, count = self.bbr.rate, count or self.bbr.cwnd
        if limited:
            sample.limit_by_application(count)
        first = self.number
        for number in range(first, first + count):
            sample.sent(number, first, number == first, self.now_us)
        self.number += count
        self.now_us += max(self.rtt_us, int(count / self.rate))
        self.lost += lost
        sample.begin(self.now_us, count)
        for number in range(first, first + count - lost):
            sample.came(number, self.now_us - max(self.rtt_us, int(count / self.rate)))
        sample.end(count - lost, lost, self.lost, self.rtt_us, False)  # noqa: FBT003
        sample.rtt_us = self.rtt_us
        sample.state, sample.in_flight = state, flight
        sample.now_jiffy = self.now_us * HZ // 10**6
        self.bbr.control(8 * self.rtt_us)
        self.gains.append(self.bbr.pacing_gain / 256)

    @property
    def bdp(self) -> float:
        return self.rate * self.rtt_us


def probing(rate: float = 0.05, seed: int = 1) -> Way:
    """A way whose rate and delay are known."""
    way = Way(rate, seed=seed)
    while way.bbr.mode != PROBE_BW:
        way.trip()
    return way


def test_the_first_gain_doubles_the_rate_each_round_trip() -> None:
    way = Way(0.05)
    assert way.bbr.pacing_gain / 256 == pytest.approx(2 / math.log(2), rel=0.003)
    before = 0
    for _ in range(4):
        way.trip()
        assert way.bbr.mode == STARTUP
        # each ACK lets twice as much go: a window per round trip, times 2.885, less 1 %
        law = 0.99 * 2 / math.log(2) * way.bbr.bandwidth.value / FULL * 1e6 * MSS
        assert way.bbr.pacing_rate == pytest.approx(law, rel=0.01)
        assert way.bbr.bandwidth.value >= 1.9 * before
        before = way.bbr.bandwidth.value


def test_three_rounds_without_a_quarter_more_are_a_full_pipe_and_it_drains() -> None:
    way = Way(0.01)
    modes = []
    while way.bbr.mode == STARTUP:
        way.trip(flight=10**6)
        modes.append((way.bbr.full_rounds, way.bbr.bandwidth.value))
    assert [rounds for rounds, _ in modes][-4:] == [0, 1, 2, 3]
    assert len({value for _, value in modes[-4:]}) == 1
    assert way.bbr.mode == DRAIN
    assert way.gains[-1] == pytest.approx(math.log(2) / 2, rel=0.01)
    # as long as more is on its way than the path holds
    way.trip(flight=int(2 * way.bdp))
    assert way.bbr.mode == DRAIN
    way.trip(flight=int(way.bdp))
    assert way.bbr.mode == PROBE_BW
    assert way.bbr.ssthresh == pytest.approx(way.bdp, abs=3 * 44 + 4)


def test_rounds_that_the_application_holds_back_say_nothing() -> None:
    way = Way(0.05)
    way.trip(10)
    for _ in range(20):
        way.trip(10, limited=True)
    assert way.bbr.mode == STARTUP
    assert not way.bbr.full
    # nor does what they deliver lower the rate
    assert way.bbr.bandwidth.value == pytest.approx(10 / RTT_US * FULL, rel=0.01)


def test_eight_phases_of_a_round_trip_probe_drain_and_cruise() -> None:
    way = probing()
    way.gains.clear()
    for _ in range(33):
        # enough in flight to end a phase that probes, not one that drains
        way.rtt_us += 1
        way.trip(int(1.4 * way.bdp), flight=int(1.4 * way.bdp))
    first = way.gains.index(1.25)
    assert [round(gain, 2) for gain in way.gains[first : first + 16]] == (
        [1.25, 0.75] + [1.0] * 6
    ) * 2
    assert way.bbr.cwnd_gain == 2 * 256


def test_the_cycle_begins_anywhere_but_where_it_drains() -> None:
    phases = {probing(seed=seed).bbr.cycle for seed in range(60)}
    assert phases == {0, 2, 3, 4, 5, 6, 7}


def test_a_phase_that_drains_ends_as_soon_as_the_queue_is_gone() -> None:
    way = probing()
    while way.bbr.pacing_gain != 192:
        way.rtt_us += 1
        way.trip(int(1.4 * way.bdp))
    # sooner than a round trip
    way.rtt_us, way.bbr.rate.rtt_us = RTT_US // 2, RTT_US
    way.trip(int(0.5 * way.bdp))
    assert way.bbr.pacing_gain == 256


def test_the_window_is_twice_what_the_path_holds_and_what_comes_in_bursts() -> None:
    way = probing()
    for _ in range(12):
        way.trip(int(way.bdp))
    goal = min(way.bbr.pacing_rate >> 10, 65536 - 321) // MSS
    # whole windows are acknowledged at once: for a tenth of a second of that is room
    law = 2 * way.bdp + 100_000 * way.rate + 3 * goal
    assert way.bbr.cwnd == pytest.approx(law, abs=2 + way.bdp * 0.05)


def test_every_ten_seconds_the_path_is_emptied_for_a_fifth_of_one() -> None:
    way = probing()
    # a queue: no round trip is as short as the first
    way.rtt_us += 1000
    entered = left = window = 0
    started = way.now_us
    while way.now_us < started + 25_000_000:
        before = way.bbr.mode
        way.trip(int(way.bdp) if before != PROBE_RTT else 4, flight=4)
        if before != PROBE_RTT and way.bbr.mode == PROBE_RTT:
            entered, window = way.now_us, way.bbr.prior_cwnd
            assert way.bbr.cwnd == 4
            # its round trip is that of the path now
            way.rtt_us += 1000
        if before == PROBE_RTT and way.bbr.mode != PROBE_RTT:
            left = way.now_us
            break
    assert entered - started == pytest.approx(10_000_000, abs=500_000)
    assert 200_000 < left - entered < 200_000 + 4 * way.rtt_us
    assert way.bbr.mode == PROBE_BW
    assert way.bbr.cwnd >= window > 4
    assert way.bbr.probes == 1


def test_a_loss_changes_no_rate_and_the_first_round_conserves_packets() -> None:
    way = probing()
    rate, window = way.bbr.pacing_rate / way.gains[-1], way.bbr.cwnd
    way.bbr.lower_threshold()
    way.trip(100, lost=1, state=RECOVERY, flight=60)
    # what is in flight, and what has come
    assert way.bbr.cwnd == 60 + 99
    assert way.bbr.pacing_rate / way.gains[-1] == pytest.approx(rate, rel=0.02)
    way.trip(100, state=RECOVERY, flight=60)
    way.trip(100, flight=60)
    assert way.bbr.cwnd >= window


def test_a_timeout_forgets_that_the_pipe_was_full_but_not_the_rate() -> None:
    way = probing()
    bandwidth = way.bbr.bandwidth.value
    way.bbr.lower_threshold()
    window = way.bbr.cwnd
    way.bbr.enters_loss()
    way.bbr.set_window(1)
    assert (way.bbr.full_bw, way.bbr.bandwidth.value) == (0, bandwidth)
    way.trip(4, state=LOSS, flight=1)
    way.trip(4, flight=1)
    assert way.bbr.cwnd >= window


def test_twice_the_same_rate_with_many_losses_is_that_of_a_policer() -> None:
    way = probing()
    trips = 0
    while not way.bbr.policed:
        way.trip(1000, lost=400)
        trips += 1
        assert trips < 40
    # two intervals of four rounds, at least
    assert trips >= 8
    assert way.bbr.pacing_gain == 256
    assert way.bbr.lt_bw == pytest.approx(600 / RTT_US * FULL, rel=0.01)
    for _ in range(47):
        way.trip(1000)
        assert way.bbr.policed
    way.trip(1000)
    assert not way.bbr.policed


def test_losses_of_a_tenth_are_no_policer_s() -> None:
    way = probing()
    for _ in range(60):
        way.trip(1000, lost=100)
        assert not way.bbr.policed


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=80), st.integers(4, 20))
def test_the_filter_s_value_is_one_of_the_window_and_no_less_than_the_last(
    values: list[int], window: int
) -> None:
    found = MaxFilter()
    for now, value in enumerate(values):
        found.add(window, now, value)
        recent = values[max(0, now - window) : now + 1]
        assert value <= found.value <= max(recent)
        assert found.value in recent


@given(st.lists(st.integers(1, 30), min_size=2, max_size=30), st.integers(2, 9))
def test_a_sample_is_what_came_in_the_longer_of_sending_and_acknowledging(
    counts: list[int], rate: int
) -> None:
    way = Way(rate / 1000)
    sample = way.bbr.rate
    for count in counts:
        way.trip(count)
        assert sample.delivered == count
        assert sample.interval_us == max(RTT_US, int(count / way.rate))
    assert sample.total_delivered == sum(counts)


@pytest.mark.parametrize(("version", "offered"), [("5.0", False), ("5.1", True)])
def test_it_is_offered_from_5_1_on(version: str, offered: bool) -> None:  # noqa: FBT001
    assert ("bbr" in congestion_controls(version)) is offered
