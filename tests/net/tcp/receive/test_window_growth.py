"""How a receiver's window and buffer grow (net/ipv4/tcp_input.c), by hand.

Buffers of 2048 bytes a segment, as in `test_window`.
"""

from typing import Any

import pytest

from simnet.net.tcp.receive.window import ReceiveWindow
from tests.net.tcp.receive.test_window import MSS, make


class TestGrowth:
    @pytest.mark.parametrize(
        ("length", "rmem_max", "gained"),
        [
            # 1536 for 1448: at least half of it is payload
            (1448, 6_291_456, 2 * 1400),
            (100, 6_291_456, 2 * 1400),
            # an eighth, up to an eighth of 49152
            (200, 65_536, 2 * 1400),
            # a sixteenth: the window is above 3072 already
            (100, 65_536, 0),
        ],
    )
    def test_by_two_segments_unless_memory_is_wasted(
        self, length: int, rmem_max: int, gained: int
    ) -> None:
        window = make("2.6.18", rmem_max=rmem_max)
        assert window.grow(length, 1400) == (gained > 0)
        assert window.rcv_ssthresh == 4 * MSS + gained

    def test_by_two_of_the_largest_if_memory_is_mostly_payload(self) -> None:
        window = make("2.6.18", 1920)
        # three quarters of 1920 are less than 1448
        assert window.grow(MSS, 1400)
        assert window.rcv_ssthresh == 4 * MSS + 2 * MSS

    @pytest.mark.parametrize(("version", "gained"), [("3.0", 2 * MSS), ("3.1", 2 * 5000)])
    def test_a_merged_segment_counts_by_its_length_from_3_1_on(
        self, version: str, gained: int
    ) -> None:
        window = make(version)
        before = window.rcv_ssthresh
        assert window.grow(5000, MSS)
        assert window.rcv_ssthresh - before == gained

    @pytest.mark.parametrize(
        ("version", "buffer", "length", "gained"),
        [
            # twice the segment that has come, if that is more than two of what usually comes
            ("3.0", 1600, 1400, 2 * MSS),
            ("3.1", 1600, 1200, 2 * MSS),
            ("3.0", 2048, 1400, 2000),
            ("3.1", 2048, 1400, 2800),
        ],
    )
    def test_or_the_length_of_what_came(
        self, version: str, buffer: int, length: int, gained: int
    ) -> None:
        window = make(version, buffer)
        before = window.rcv_ssthresh
        assert window.grow(length, 1000)
        assert window.rcv_ssthresh - before == gained

    @pytest.mark.parametrize(
        ("rmem_max", "length", "grows"),
        [(15_445, 800, True), (15_445, 768, True), (15_445, 767, False), (15_444, 800, False)],
    )
    def test_memory_may_be_wasted_while_the_window_is_small(
        self, rmem_max: int, length: int, *, grows: bool
    ) -> None:
        # half of three quarters of 15445 bytes is 5792: four segments
        window = make("2.6.18", rmem_max=rmem_max)
        assert window.rcv_ssthresh == 5792
        assert window.grow(length, 1000) == grows

    @pytest.mark.parametrize(("memory", "gained"), [(79_658, 0), (79_657, 2 * MSS)])
    def test_while_more_is_free_than_is_offered(self, memory: int, gained: int) -> None:
        window = make("2.6.18")
        window.queue.append(MSS, memory, 0)
        assert window.grow(MSS, MSS) == (gained > 0)
        assert window.rcv_ssthresh == 5792 + gained

    def test_memory_that_is_not_counted_yet_is_free(self) -> None:
        window = make("2.6.18")
        window.queue.append(MSS, 79_659, 0)
        assert not window.grow(MSS, MSS, 1)
        assert window.grow(MSS, MSS, 2)

    @pytest.mark.parametrize(("free", "gained"), [(59_748, 1), (59_888, 100), (87_380, 2 * MSS)])
    def test_with_a_measured_share_no_more_than_is_free(self, free: int, gained: int) -> None:
        window = make("6.18")
        window.measured(MSS, 0)
        assert (window.ratio, window.rcv_ssthresh) == (181, 42_242)
        window.queue.append(MSS, 87_380 - free, 0)
        # two of the largest: 181 of 256 parts of 2048 are 1448
        assert window.grow(MSS, 1000)
        assert window.rcv_ssthresh == 42_242 + gained

    def test_by_the_last_byte_that_there_is(self) -> None:
        window = make("2.6.18")
        window.limit(5793, 0)
        assert window.grow(MSS, MSS)
        assert window.rcv_ssthresh == 5793
        assert not window.grow(MSS, MSS)

    def test_up_to_the_clamp(self) -> None:
        window = make("2.6.18")
        steps = 0
        while window.grow(MSS, MSS):
            steps += 1
        # 58295 bytes, 2896 at a time
        assert (window.rcv_ssthresh, steps) == (window.window_clamp, 21)

    def test_not_beyond_what_is_free(self) -> None:
        window = make("2.6.18")
        for _ in range(40):
            window.queue.append(MSS, 2048, 0)
        # 5460 bytes are left, 4095 of them for the window
        assert not window.grow(MSS, MSS)


class TestRightSizing:
    def measured(self, version: str, copied: int, **options: Any) -> ReceiveWindow:
        """After a round trip of 10 jiffies in which so much was read."""
        window = make(version, **options)
        window.started(100)
        window.adjust(0, 0, 100)
        window.rtt = 10 << 3
        window.adjust(copied, copied, 109)
        assert window.rcvbuf == 87_380
        window.adjust(copied, copied, 110)
        return window

    @pytest.mark.parametrize(
        ("copied", "space", "rcvbuf", "clamp"),
        [
            # twice what was read, if that is more than before: 5792
            (2000, 5792, 87_380, 64_087),
            (2896, 5792, 87_380, 64_087),
            (2897, 5794, 87_380, 64_087),
            (60_000, 120_000, 120_000 // MSS * 2048, 120_000),
            (5_000_000, 10_000_000, 6_291_456, 10_000_000),
        ],
    )
    def test_twice_what_a_round_trip_brings(
        self, copied: int, space: int, rcvbuf: int, clamp: int
    ) -> None:
        window = self.measured("2.6.18", copied)
        assert (window.rcvq_space, window.rcvbuf, window.window_clamp) == (space, rcvbuf, clamp)

    @pytest.mark.parametrize(
        ("copied", "window"),
        [
            (14_480, 0),
            # 2 x copied and 16 segments, once, 1.5 times from 1.25 of before on, twice from 1.5 on
            (14_481, 2 * 14_481 + 16 * MSS),
            (18_099, 2 * 18_099 + 16 * MSS),
            (18_100, (2 * 18_100 + 16 * MSS) * 3 // 2),
            (21_719, (2 * 21_719 + 16 * MSS) * 3 // 2),
            (21_720, (2 * 21_720 + 16 * MSS) * 2),
        ],
    )
    def test_from_3_15_on_with_a_cushion(self, copied: int, window: int) -> None:
        sized = self.measured("3.15", copied)
        # 2944 bytes of memory for 1448 in the window, in steps of 128
        expected = (window // MSS * 2944, window) if window else (87_380, 43_690 - MSS)
        assert (sized.rcvbuf, sized.window_clamp) == expected
        assert sized.rcvq_space == max(copied, 14_480)

    def test_in_6_18_by_how_much_faster_it_got(self) -> None:
        sized = self.measured("6.18", 20_000)
        window = 40_000 + 2 * (40_000 * 5520 // 14_480)
        assert (sized.rcvbuf, sized.window_clamp) == (2 * window, window)

    def test_in_6_18_from_a_byte_more_than_before_on(self) -> None:
        for copied, rcvbuf in ((8552, 20_000), (8553, 2 * (17_106 + 4))):
            window = make("6.18", rmem_default=20_000)
            window.started(0)
            window.rtt = 8
            window.adjust(copied, copied, 1)
            assert (window.rcvq_space, window.rcvbuf) == (copied, rcvbuf)

    def test_in_6_18_what_is_not_read_yet_does_not_count(self) -> None:
        window = make("6.18")
        window.started(0)
        window.rtt = 8
        window.adjust(20_000, 25_520, 1)
        assert window.rcvq_space == 14_480
        window.adjust(20_000 + 20_000, 20_000 + 25_519, 2)
        assert window.rcvq_space == 14_481

    @pytest.mark.parametrize("others", [[], [(31_000, 32_000)]])
    def test_in_6_18_what_is_ahead_of_a_hole_does(self, others: list[tuple[int, int]]) -> None:
        window = make("6.18")
        for first, last in [*others, (40_000, 41_448)]:
            window.held.insert(first, last, 0)
        window.follow(28_960, 30_000)
        size = 57_920 + 2 * 57_920 + 41_448 - 30_000
        assert (window.rcvbuf, window.window_clamp) == (2 * size, size)
        # as fast as before
        window.follow(28_960, 41_448)
        assert window.rcvbuf == 2 * size

    @pytest.mark.parametrize(
        ("version", "rcvbuf", "copied", "clamp"),
        [
            # the memory of 30, 36 and 20 segments, which the buffer has
            ("2.6.18", 30 * 2048, 15 * MSS, 46_080 - MSS),
            ("3.15", 36 * 2944, 10 * MSS + 1, 36 * 1472 - MSS),
            ("6.18", 2 * (2 * 14_481 + 4), 14_481, 28_966 - MSS),
        ],
    )
    def test_a_buffer_that_is_large_enough_stays(
        self, version: str, rcvbuf: int, copied: int, clamp: int
    ) -> None:
        window = make(version, rmem_default=rcvbuf)
        window.started(0)
        window.adjust(0, 0, 0)
        window.rtt = 8
        window.adjust(copied, copied, 1)
        assert (window.rcvbuf, window.window_clamp) == (rcvbuf, clamp)
        assert window.rcvq_space in {copied, 2 * copied}

    def test_each_round_trip_counts_by_itself(self) -> None:
        window = make("3.15")
        window.started(0)
        window.rtt = 8
        window.adjust(20_000, 20_000, 1)
        window.adjust(41_000, 41_000, 2)
        assert window.rcvq_space == 21_000

    def test_not_before_a_round_trip_has_been_measured(self) -> None:
        window = make("3.15")
        window.started(0)
        window.adjust(60_000, 60_000, 1000)
        assert (window.rcvq_space, window.rcvbuf) == (14_480, 87_380)

    @pytest.mark.parametrize("now", [0, 1, 100])
    def test_2_6_begins_at_the_first_read_later_versions_before(self, now: int) -> None:
        for version, rcvbuf in (("2.6.18", 87_380), ("3.15", 197 * 2944)):
            window = make(version)
            window.started(now)
            window.rtt = 8
            window.adjust(60_000, 60_000, now + 1)
            assert window.rcvbuf == rcvbuf
        window = make("2.6.18")
        window.rtt = 8
        window.adjust(0, 0, now)
        window.adjust(60_000, 60_000, now + 1)
        assert window.rcvbuf == 82 * 2048

    @pytest.mark.parametrize("version", ["2.6.18", "3.15", "6.18"])
    @pytest.mark.parametrize("option", [{"moderate": False}, {"locked": True}])
    def test_not_where_it_is_off_or_so_rcvbuf_was_set(
        self, version: str, option: dict[str, bool]
    ) -> None:
        assert self.measured(version, 60_000, **option).rcvbuf == 87_380

    def test_a_round_trip_is_a_window_of_data_and_the_shortest_counts(self) -> None:
        for start in (0, 1):
            window = make("2.6.18")
            window.measure_rtt(0, 1000, start)
            window.measure_rtt(1000, 1000, start + 16)
            assert window.rtt == 16 << 3
            window.measure_rtt(2000, 1000, start + 16 + 9)
            assert window.rtt == 9 << 3
        window = make("2.6.18")
        window.measure_rtt(0, 1000, 50)
        window.measure_rtt(999, 1000, 60)
        assert window.rtt == 0
        window.measure_rtt(1000, 1000, 61)
        assert window.rtt == 11 << 3
        window.measure_rtt(2000, 1000, 80)
        assert window.rtt == 11 << 3
        window.measure_rtt(3000, 1000, 80)
        # no less than a jiffy
        assert window.rtt == 1 << 3


class TestMemory:
    def test_a_full_buffer_is_widened_to_what_is_kept(self) -> None:
        window = make("2.6.18", rmem_max=100_000)
        for _ in range(48):
            window.queue.append(MSS, 2048, 0)
        assert window.full_buffer()
        assert (window.rcvbuf, window.rcv_ssthresh) == (48 * 2048, 4 * MSS)
        window.queue.append(MSS, 2048, 0)
        assert not window.full_buffer()
        assert (window.rcvbuf, window.rcv_ssthresh) == (100_000, 2 * MSS)

    @pytest.mark.parametrize("locked", [False, True])
    def test_a_buffer_at_its_largest_or_that_was_set_stays(self, locked: bool) -> None:  # noqa: FBT001
        rmem_max = 200_000 if locked else 87_380
        window = make("2.6.18", rmem_max=rmem_max, locked=locked)
        window.queue.append(MSS, 80_000, 0)
        assert window.full_buffer()
        assert window.rcvbuf == 87_380
        window.queue.append(MSS, 7381, 0)
        assert not window.full_buffer()
        assert (window.rcvbuf, window.rcv_ssthresh) == (87_380, 2 * MSS)

    def test_no_memory_left_offers_no_more_than_the_clamp(self) -> None:
        window = make("2.6.18", rmem_default=3000, locked=True)
        window.queue.append(MSS, 3001, 0)
        window.full_buffer()
        assert window.rcv_ssthresh == window.window_clamp == 2250

    def test_a_buffer_that_is_set_later_stays(self) -> None:
        window = make("2.6.18")
        window.lock(5000)
        window.queue.append(MSS, 6000, 0)
        assert not window.full_buffer()
        window.rtt = 8
        window.adjust(0, 0, 0)
        window.adjust(60_000, 60_000, 1)
        assert (window.rcvbuf, window.wscale, window.rcvq_space) == (5000, 7, 120_000)

    @pytest.mark.parametrize(
        ("length", "ratio", "clamp"),
        [
            (1, 1, 1152),
            (15, 1, 1152),
            (16, 2, 1152),
            (31, 3, 1152),
            (32, 4, 1365),
            (MSS, 181, 61_780),
        ],
    )
    def test_the_share_of_short_segments_is_never_nothing(
        self, length: int, ratio: int, clamp: int
    ) -> None:
        window = make("6.18")
        window.measured(length, 0)
        assert (window.ratio, window.window_clamp) == (ratio, clamp)
        assert window.rcvq_space == min(14_480, clamp)

    def test_the_same_share_changes_nothing(self) -> None:
        window = make("6.18")
        window.measured(MSS, 0)
        window.limit(20_000, 0)
        window.measured(MSS, 0)
        assert window.window_clamp == 20_000

    def test_before_6_6_it_is_not_measured(self) -> None:
        window = make("6.5")
        window.measured(100, 0)
        assert (window.ratio, window.window_clamp) == (0, 43_690 - MSS)

    def test_the_share_follows_longer_segments(self) -> None:
        window = make("6.18")
        window.measured(MSS, 0)
        assert window.ratio == MSS * 256 // 2048
        assert window.window_clamp == window.full() == 87_380 * 181 >> 8
        # what was offered stays offered
        before = window.rcv_ssthresh
        window.measured(200, 20_000)
        assert window.window_clamp == 87_380 * 25 >> 8
        assert window.rcv_ssthresh == min(before, window.window_clamp)

    @pytest.mark.parametrize(
        ("clamp", "current", "threshold"),
        [
            (5000, 0, 5000),
            (60_000, 0, 5792),
            (64_087, 9000, 5792),
            (70_000, 9000, 9000),
            (70_000, 80_000, 70_000),
        ],
    )
    def test_a_clamp_lowers_what_may_be_offered_or_lets_it_be(
        self, clamp: int, current: int, threshold: int
    ) -> None:
        window = make("2.6.18")
        window.limit(clamp, current)
        assert (window.window_clamp, window.rcv_ssthresh) == (clamp, threshold)
