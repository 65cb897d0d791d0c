"""Congestion windows against the kernel's functions, written out (tcp_cong.c, tcp_bic.c)."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simnet.net.tcp.congestion.control import Congestion
from simnet.net.tcp.congestion.cubic import Cubic, cube_root
from simnet.net.tcp.rules.sender_version import sender_rules
from tests.house.examples import examples
from tests.net.parts import make_congestion

NEW, OLD = sender_rules("2.6.18"), sender_rules("2.6.9")


class KernelWindow:
    """`snd_cwnd` and what belongs to it; `bic` or `reno`, HZ 250."""

    def __init__(self, name: str, cwnd: int, *, delayed_ack: bool) -> None:
        self.bic = name == "bic"
        self.snd_cwnd = cwnd
        self.snd_ssthresh = 100 if self.bic and delayed_ack else 0x7FFFFFFF
        self.snd_cwnd_cnt = 0
        self.delayed_ack_on = delayed_ack
        self.reset()

    def reset(self) -> None:
        self.cnt = self.last_max_cwnd = self.loss_cwnd = self.last_cwnd = self.last_time = 0
        self.delayed_ack = 2 << 4

    def update(self, now: int) -> None:
        cwnd, last_max = self.snd_cwnd, self.last_max_cwnd
        if self.last_cwnd == cwnd and now - self.last_time <= 250 // 32:
            return
        self.last_cwnd, self.last_time = cwnd, now
        if cwnd <= 14:
            self.cnt = cwnd
            return
        if cwnd < last_max:
            dist = (last_max - cwnd) // 4
            if dist > 16:
                cnt = cwnd // 16
            elif dist <= 1:
                cnt = cwnd * 20 // 4
            else:
                cnt = cwnd // dist
        elif cwnd < last_max + 4:
            cnt = cwnd * 20 // 4
        elif cwnd < last_max + 16 * 3:
            cnt = cwnd * 3 // (cwnd - last_max)
        else:
            cnt = cwnd // 16
        if self.loss_cwnd == 0:
            cnt = min(cnt, 20)
        if self.delayed_ack_on:
            cnt = (cnt << 4) // self.delayed_ack
        self.cnt = max(cnt, 1)

    def acked(self, count: int, now: int) -> None:
        self.delayed_ack += count - (self.delayed_ack >> 4)
        if self.snd_cwnd <= self.snd_ssthresh:
            self.snd_cwnd = min(self.snd_cwnd + 1, 65_535)
            return
        if self.bic:
            self.update(now)
        else:
            self.cnt = self.snd_cwnd
        if self.snd_cwnd_cnt >= self.cnt:
            self.snd_cwnd = min(self.snd_cwnd + 1, 65_535)
            self.snd_cwnd_cnt = 0
        else:
            self.snd_cwnd_cnt += 1

    def ssthresh(self) -> int:
        if not self.bic:
            return max(self.snd_cwnd >> 1, 2)
        if self.snd_cwnd < self.last_max_cwnd:
            self.last_max_cwnd = self.snd_cwnd * (1024 + 819) // 2048
        else:
            self.last_max_cwnd = self.snd_cwnd
        self.loss_cwnd = self.snd_cwnd
        if self.snd_cwnd <= 14:
            return max(self.snd_cwnd >> 1, 2)
        return max(self.snd_cwnd * 819 // 1024, 2)

    def lose(self) -> None:
        self.snd_ssthresh = self.ssthresh()
        self.snd_cwnd = self.snd_ssthresh
        self.snd_cwnd_cnt = 0

    def time_out(self) -> None:
        self.snd_ssthresh = self.ssthresh()
        self.snd_cwnd = 1
        self.snd_cwnd_cnt = 0
        # bictcp_state: TCP_CA_Loss forgets
        self.reset()


def acked(window: Congestion, count: int, now: int) -> None:
    window.segments_acked(count, -1, now, 0, open_state=True)
    window.avoid(0, 0, now, count)


def reduce(window: Congestion, cwnd: int | None = None) -> None:
    """What recovery does to a window, all at once."""
    window.lower_threshold()
    window.set_window(window.ssthresh if cwnd is None else cwnd)
    window.restart_count()


@settings(max_examples=examples(200))
@given(
    name=st.sampled_from(["bic", "reno"]),
    cwnd=st.integers(1, 10),
    steps=st.lists(
        st.tuples(
            st.sampled_from(["ack", "ack", "loss", "timeout"]),
            st.integers(1, 600),
            st.integers(1, 3),
        ),
        max_size=25,
    ),
    delayed_ack=st.booleans(),
)
@example(
    name="bic", cwnd=3, steps=[("ack", 200, 2), ("loss", 1, 1), ("ack", 2000, 1)], delayed_ack=True
)
@example(
    name="bic",
    cwnd=3,
    steps=[("ack", 40, 1), ("loss", 1, 1), ("loss", 1, 1), ("ack", 5000, 2)],
    delayed_ack=False,
)
def test_window_is_the_kernels(
    name: str,
    cwnd: int,
    steps: list[tuple[str, int, int]],
    delayed_ack: bool,  # noqa: FBT001 - drawn
) -> None:
    kernel = KernelWindow(name, cwnd, delayed_ack=delayed_ack)
    window = make_congestion(name, cwnd, rules=NEW if delayed_ack else OLD)
    now = 0
    for what, times, count in steps:
        for number in range(times if what == "ack" else 1):
            now += number % 3
            if what == "ack":
                kernel.acked(count, now)
                acked(window, count, now)
            elif what == "loss":
                kernel.lose()
                reduce(window)
            else:
                kernel.time_out()
                reduce(window, 1)
                window.forget()
            assert (window.cwnd, window.ssthresh) == (kernel.snd_cwnd, kernel.snd_ssthresh)


class TestSlowStart:
    @pytest.mark.parametrize("name", ["bic", "reno", "cubic"])
    def test_one_segment_for_each_ack(self, name: str) -> None:
        window = make_congestion(name, 3, rules=OLD)
        for _ in range(80):
            acked(window, 2, 0)
        assert window.cwnd == 83

    def test_up_to_the_clamp(self) -> None:
        window = make_congestion("reno", 65_530)
        for _ in range(10):
            acked(window, 1, 0)
        assert window.cwnd == 65_535

    @pytest.mark.parametrize("name", ["bic", "cubic"])
    def test_begins_with_a_threshold_of_100(self, name: str) -> None:
        assert make_congestion(name, 3, rules=NEW).ssthresh == 100


class TestByteCounting:
    """RFC 3465."""

    def test_half_a_segment_does_not_count(self) -> None:
        window = make_congestion("reno", 3, mss=1000, abc=1)
        for _ in range(4):
            window.count_bytes(500)
            window.avoid(0, 0, 0, 1)
        assert window.cwnd == 5

    def test_two_segments_count_twice_with_2(self) -> None:
        window = make_congestion("reno", 3, mss=1000, abc=2)
        window.count_bytes(2000)
        window.avoid(0, 0, 0, 1)
        assert window.cwnd == 5

    def test_avoidance_takes_a_whole_window(self) -> None:
        window = make_congestion("reno", 10, mss=1000, abc=1)
        window.set_threshold(5)
        for _ in range(5):
            window.count_bytes(2000)
            window.avoid(0, 0, 0, 1)
        assert (window.cwnd, window.bytes_acked) == (11, 0)


class TestStretchedAcks:
    """An ACK for several segments, which Linux has counted as such since 3.13 and 4.0."""

    @pytest.mark.parametrize(("version", "cwnd"), [("3.12", 11), ("3.13", 14), ("6.18", 14)])
    def test_slow_start(self, version: str, cwnd: int) -> None:
        window = make_congestion("reno", 10, rules=sender_rules(version))
        window.avoid(0, 0, 0, 4)
        assert window.cwnd == cwnd

    @pytest.mark.parametrize(("version", "cwnd"), [("3.19", 20), ("4.0", 22)])
    def test_avoidance(self, version: str, cwnd: int) -> None:
        window = make_congestion("reno", 20, rules=sender_rules(version))
        window.set_threshold(10)
        for _ in range(11):
            window.avoid(0, 0, 0, 4)
        assert window.cwnd == cwnd

    @pytest.mark.parametrize(("version", "cwnd", "count"), [("3.13", 13, 0), ("6.18", 12, 3)])
    def test_what_slow_start_leaves_counts_for_avoidance(
        self, version: str, cwnd: int, count: int
    ) -> None:
        window = make_congestion("reno", 10, rules=sender_rules(version))
        window.set_threshold(12)
        window.avoid(0, 0, 0, 5)
        assert (window.cwnd, window.cwnd_count) == (cwnd, count)

    def test_credit_of_a_larger_window_is_worth_one_segment(self) -> None:
        window = make_congestion("reno", 100, rules=sender_rules("6.18"))
        window.set_threshold(5)
        window.avoid(0, 0, 0, 60)
        window.set_window(10)
        window.avoid(0, 0, 0, 1)
        assert (window.cwnd, window.cwnd_count) == (11, 1)

    def test_cubic_grows_as_fast_with_one_ack_for_many(self) -> None:
        sizes = []
        for each in (1, 8):
            window = make_congestion("cubic", 100, hz=1000, rules=sender_rules("6.18"))
            window.set_threshold(50)
            for number in range(0, 4000, each):
                at = 1000 + number // 40
                window.segments_acked(each, 100_000, at, at * 1000, open_state=True)
                window.avoid(number, 0, at, each)
            sizes.append(window.cwnd)
        assert sizes[1] == pytest.approx(sizes[0], rel=0.05)
        assert sizes[0] > 110


class TestReno:
    @pytest.mark.parametrize(
        ("cwnd", "half"), [(1, 2), (3, 2), (4, 2), (5, 2), (6, 3), (7, 3), (8, 4), (1000, 500)]
    )
    def test_a_loss_halves_the_window_to_two_segments_at_least(self, cwnd: int, half: int) -> None:
        # RFC 5681, equation 4
        assert make_congestion("reno", cwnd).reduced() == half


class TestBic:
    def test_reduces_to_819_1024(self) -> None:
        window = make_congestion("bic", 1000)
        assert window.reduced() == 1000 * 819 // 1024

    def test_small_windows_are_halved_as_in_reno(self) -> None:
        assert make_congestion("bic", 14).reduced() == 7

    def test_undo_goes_back_to_the_last_maximum(self) -> None:
        window = make_congestion("bic", 1000)
        reduce(window)
        assert window.undo_cwnd() == 1000

    def test_rate_halving_stops_at_the_threshold_and_reno_at_half_of_it(self) -> None:
        windows = [make_congestion(name, 1000) for name in ("bic", "reno")]
        for window in windows:
            window.lower_threshold()
        assert [window.least() for window in windows] == [799, 250]

    def test_unknown_algorithm_is_an_error(self) -> None:
        with pytest.raises(KeyError):
            make_congestion("vegas", 3)


def grown(version: str, losses: list[int], seconds: float, rtt_ms: int = 100) -> list[int]:
    """Window of CUBIC after each round trip once it has been reduced from these sizes."""
    window = make_congestion("cubic", 10, hz=1000, rules=sender_rules(version))
    assert isinstance(window, Cubic)
    for size in losses:
        window.set_window(size)
        reduce(window)
    window.set_window(window.cwnd + 1)  # above the threshold
    now, sizes = 10_000, []
    for _ in range(int(seconds * 1000 / rtt_ms)):
        for number in range(window.cwnd // 2):
            # an ACK for two segments
            at = now + number * rtt_ms * 2 // window.cwnd
            window.segments_acked(2, rtt_ms * 1000, at, at * 1000, open_state=True)
            window.avoid(0, 0, at, 2)
        now += rtt_ms
        sizes.append(window.cwnd)
    return sizes


class TestCubic:
    @settings(max_examples=examples(200))
    @given(st.integers(0, 1 << 60))
    def test_cube_root(self, value: int) -> None:
        root = cube_root(value)
        assert root**3 <= value < (root + 1) ** 3

    @pytest.mark.parametrize(("version", "beta"), [("2.6.18", 819), ("2.6.32", 717)])
    def test_reduces_by_beta(self, version: str, beta: int) -> None:
        window = make_congestion("cubic", 1000, rules=sender_rules(version))
        assert window.reduced() == 1000 * beta // 1024

    def test_follows_the_cubic_function(self) -> None:
        # RFC 8312: W(t) = C (t - K)^3 + W_max with C = 0.4, K = cbrt(W_max (1 - beta) / C)
        sizes = grown("2.6.32", [2000], 20)
        beta = 717 / 1024
        k = (2000 * (1 - beta) / 0.4) ** (1 / 3)
        for number, size in enumerate(sizes):
            formula = 0.4 * ((number + 2) / 10 - k) ** 3 + 2000
            assert size == pytest.approx(formula, rel=0.025)

    @pytest.mark.parametrize(("count", "ratio"), [(1, 31), (2, 32), (4, 34), (20, 50)])
    def test_segments_to_an_ack_are_a_mean_of_sixteen(self, count: int, ratio: int) -> None:
        window = make_congestion("cubic", 100, rules=NEW)
        assert isinstance(window, Cubic)
        # it begins with two to an ACK, in sixteenths
        window.segments_acked(count, -1, 0, 0, open_state=True)
        assert window.ack_ratio == ratio
        window.segments_acked(count, -1, 0, 0, open_state=False)
        assert window.ack_ratio == ratio

    def test_a_second_loss_below_the_first_gives_way(self) -> None:
        window = make_congestion("cubic", 10, rules=NEW)
        assert isinstance(window, Cubic)
        for size in (1000, 900):
            window.set_window(size)
            reduce(window)
        assert window.last_max_cwnd == 900 * (1024 + 819) // 2048

    def test_is_no_slower_than_reno_where_that_is_fast(self) -> None:
        # RFC 8312, 4.2: with a short round trip the window grows linearly, 3 (1 - b) / (1 + b)
        # a round trip; the kernel counts ACKs, one for two segments
        sizes = grown("2.6.32", [40], 1, rtt_ms=5)
        beta = 717 / 1024
        slope = 3 * (1 - beta) / (1 + beta)
        assert sizes[-1] - sizes[0] == pytest.approx(slope / 2 * len(sizes), rel=0.1)

    def test_hystart_ends_slow_start_when_the_round_trip_gets_longer(self) -> None:
        window = make_congestion("cubic", 16, hz=1000, rules=sender_rules("2.6.32"))
        now, rtt_ms, ack = 10_000, 40, 0
        for _ in range(5):
            flight = window.cwnd
            for number in range(flight):
                # ACKs 3 ms apart are no train
                at = now + 3 * number
                ack += 1
                window.segments_acked(1, rtt_ms * 1000, at, at * 1000, open_state=True)
                window.avoid(ack, ack + window.cwnd, at, 1)
            now += 1000
            if window.cwnd > 100:
                rtt_ms = 60
        assert 100 < window.ssthresh < 1000

    @pytest.mark.parametrize(
        ("least_us", "limit_us"),
        [
            # an eighth of a ms is the unit; a sixteenth of the shortest, from 4 to 16 ms
            (10_000, 14_125),
            (64_000, 68_125),
            (250_000, 265_750),
            (400_000, 416_125),
        ],
    )
    def test_hystart_wants_eight_round_trips_longer_by_a_sixteenth(
        self, least_us: int, limit_us: int
    ) -> None:
        for rtt_us, found in ((limit_us - 1, 0), (limit_us, 2)):
            window = make_congestion("cubic", 20, hz=1000, rules=sender_rules("2.6.32"))
            assert isinstance(window, Cubic)
            window.segments_acked(1, least_us, 1000, 1_000_000, open_state=True)
            window.avoid(1, 100, 1000, 1)
            for number in range(9):
                # 3 ms apart they are no train
                at = 2000 + 3 * number
                window.segments_acked(1, rtt_us, at, at * 1000, open_state=True)
                assert window.found == (found if number == 8 else 0)

    @pytest.mark.parametrize(("gap_ms", "ends_ms"), [(1, 81), (2, 82), (3, None)])
    def test_hystart_ends_slow_start_at_a_train_of_acks_of_half_a_round_trip(
        self, gap_ms: int, ends_ms: int | None
    ) -> None:
        window = make_congestion("cubic", 20, hz=1000, rules=sender_rules("2.6.32"))
        assert isinstance(window, Cubic)
        window.segments_acked(1, 160_000, 1000, 1_000_000, open_state=True)
        window.avoid(1, 1000, 1000, 1)
        found = {}
        for since_ms in range(gap_ms, 100, gap_ms):
            at = 1000 + since_ms
            window.segments_acked(1, 160_000, at, at * 1000, open_state=True)
            found[since_ms] = window.found
        # ACKs more than 2 ms apart are no train
        assert next((at for at, how in found.items() if how == 1), None) == ends_ms

    def test_hystart_is_not_in_the_first_versions(self) -> None:
        window = make_congestion("cubic", 16, hz=1000, rules=NEW)
        for number in range(80):
            window.segments_acked(1, 40_000 + 5000 * number, number, number, open_state=True)
            window.avoid(number + 1, 0, number, 1)
        assert window.ssthresh == 100
