"""Round-trip times against `tcp_rtt_estimator` and lib/win_minmax.c of Linux 6.x, written out."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simnet.net.link.skb import SkbQueue
from simnet.net.tcp.congestion.cubic import Cubic
from simnet.net.tcp.rules.sender_version import sender_rules
from simnet.net.tcp.send.timer import RttEstimator
from tests.host.parts import MS
from tests.house.examples import examples
from tests.net.parts import make_congestion, make_sender
from tests.net.tcp.send.estimator import KernelEstimator
from tests.net.tcp.send.test_sender import CPU, MSS

JIFFY_US = 4000
MIN_US = 200_000
WINDOW_US = 300 * 10**6


def make() -> RttEstimator:
    """At 250 ticks a second, with timeouts from 200 ms to 120 s."""
    return RttEstimator(4 * MS, 200 * MS, 120_000 * MS)


@settings(max_examples=examples(200))
@given(
    st.lists(
        st.tuples(
            st.one_of(st.integers(1, 3_000_000), st.sampled_from([1, 7, 50_000, 2_000_000])),
            st.integers(0, 3),
            st.integers(0, 6),
        ),
        min_size=1,
        max_size=60,
    )
)
@example([(1, 0, 0)] * 20)
@example([(100_000, 1, 1)] * 30 + [(1_500_000, 1, 1)] * 8 + [(90_000, 1, 1)] * 30)
@example([(60_000_000, 1, 1)] * 3)
def test_the_estimate_is_the_kernels(samples: list[tuple[int, int, int]]) -> None:
    kernel, rtt = KernelEstimator(least=MIN_US, jiffy=JIFFY_US), make()
    snd_una = snd_nxt = 0
    for sample_us, acked, sent in samples:
        snd_nxt += sent
        snd_una = min(snd_una + acked, snd_nxt)
        assert rtt.sample(sample_us, snd_una, snd_nxt) == kernel.sample(sample_us, snd_una, snd_nxt)
        assert rtt.srtt == kernel.srtt


class KernelMinimum:
    """`struct minmax` with the times and values of its three samples."""

    def __init__(self) -> None:
        self.s: list[tuple[int, int]] = []

    def add(self, value: int, now: int) -> int:
        sample = (now, value)
        if not self.s or value <= self.s[0][1] or now - self.s[2][0] > WINDOW_US:
            self.s = [sample] * 3
            return value
        if value <= self.s[1][1]:
            self.s[1:] = [sample] * 2
        elif value <= self.s[2][1]:
            self.s[2] = sample
        past = now - self.s[0][0]
        if past > WINDOW_US:
            self.s = [*self.s[1:], sample]
            if now - self.s[0][0] > WINDOW_US:
                self.s = [*self.s[1:], sample]
        elif self.s[1][0] == self.s[0][0] and past > WINDOW_US // 4:
            self.s[1:] = [sample] * 2
        elif self.s[2][0] == self.s[1][0] and past > WINDOW_US // 2:
            self.s[2] = sample
        return self.s[0][1]


GAPS = st.one_of(
    st.integers(0, 400 * 10**6),
    st.sampled_from([1, 75 * 10**6, 75 * 10**6 + 1, 150 * 10**6, 150 * 10**6 + 1, WINDOW_US]),
)


@settings(max_examples=examples(200))
@given(st.lists(st.tuples(st.integers(1, 9), GAPS), min_size=1, max_size=30))
@example([(1, 0), (5, 75 * 10**6), (6, 1), (7, 75 * 10**6), (8, 150 * 10**6), (9, 1)])
@example([(1, 0), (5, 75 * 10**6 + 1), (6, 75 * 10**6), (7, 150 * 10**6), (8, 75 * 10**6)])
@example([(3, 0), (5, 80 * 10**6), (4, 10**6), (6, 100 * 10**6), (7, 130 * 10**6), (9, 10**8)])
@example([(1, 0), (2, WINDOW_US), (2, 1), (3, WINDOW_US), (4, 1), (5, WINDOW_US + 1)])
def test_the_least_of_five_minutes_is_the_kernels(samples: list[tuple[int, int]]) -> None:
    kernel, rtt, now = KernelMinimum(), make(), 1
    for value, gap in samples:
        now += gap
        rtt.bound(value, now)
        assert rtt.least_us == kernel.add(value, now)


@pytest.mark.parametrize("sample_us", [0, -1])
def test_what_was_too_short_to_measure_counts_as_a_jiffy(sample_us: int) -> None:
    rtt = make()
    rtt.bound(sample_us, 1)
    assert rtt.least_us == JIFFY_US


@pytest.mark.parametrize(("time_us", "jiffies"), [(0, 0), (1, 1), (4000, 1), (4001, 2)])
def test_times_are_rounded_up_to_jiffies(time_us: int, jiffies: int) -> None:
    assert make().jiffies(time_us) == jiffies


@pytest.mark.parametrize(
    ("echo_ms", "now_us", "rtt_us"),
    [(5, 8999, 3000), (5, 9000, 4000), (5, 5999, 1000), (5, 5000, 1000), (5, 6000, 1000)],
)
def test_an_echo_tells_whole_milliseconds_and_at_least_one(
    echo_ms: int, now_us: int, rtt_us: int
) -> None:
    assert make().of_echo(echo_ms, now_us) == rtt_us


@pytest.mark.parametrize("version", ["2.6.32", "4.12", "6.18"])
@pytest.mark.parametrize("sack", [False, True])
def test_a_congestion_control_is_told_the_time_since_the_last_segment_was_sent(
    version: str, *, sack: bool
) -> None:
    rules = sender_rules(version)
    cubic = make_congestion("cubic", 10, hz=250, rules=rules)
    assert isinstance(cubic, Cubic)
    sender = make_sender(congestion=cubic, sack=sack, rules=rules, jiffy_ps=4 * MS)
    sender.open_window(1 << 20)
    at_ms = 1000
    for number, rtt_ms in enumerate((90, 70, 80, 50)):
        sender.seq.write(MSS, end_of_send=True)
        sender.timer.set_time(at_ms * MS)
        sender.output.stage(SkbQueue(), CPU, at_ms // 4)
        assert sender.timer.rto_jiffy > at_ms // 4
        at_ms += rtt_ms
        sender.timer.set_time(at_ms * MS)
        assert sender.acknowledge((number + 1) * MSS, 1 << 20, at_ms // 4) == 1
        assert cubic.delay_min == 8 * min((90, 70, 80, 50)[: number + 1])
        # nothing is on its way, so nothing is waited for
        assert sender.timer.rto_jiffy == -1
        # nor is it when the same is told once more
        assert sender.acknowledge((number + 1) * MSS, 1 << 20, at_ms // 4) == 0
        assert (sender.timer.rto_jiffy, sender.timer.backoff) == (-1, 0)
        at_ms += 30
