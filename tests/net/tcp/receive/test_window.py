"""Buffer and window of a receiver against `net/ipv4/tcp_input.c` and `tcp_output.c`, by hand.

Buffers of 2048 bytes a segment. Up to 3.3 three quarters of memory are for the window, then half;
from 6.6 on a share that is measured.
"""

from __future__ import annotations

from typing import Any

import pytest

from simnet.net.tcp.receive.queue import SkbSizes
from simnet.net.tcp.receive.window import ReceiveWindow
from simnet.net.tcp.rules.receiver_version import receiver_rules

MSS = 1448


def make(version: str, buffer_bytes: int = 2048, **options: Any) -> ReceiveWindow:
    """A receiver's window with an MSS of 1448 and tcp_rmem 4096 87380 6291456."""
    usual = {
        "advmss": MSS,
        "rmem_default": 87_380,
        "rmem_max": 6_291_456,
        "moderate": True,
        "locked": False,
        "scaling": True,
    }
    sizes = SkbSizes(buffer_bytes, part_bytes=MSS)
    return ReceiveWindow(receiver_rules(version), sizes, **(usual | options))


class TestFirstOffer:
    @pytest.mark.parametrize(
        ("version", "first", "clamp"),
        [
            # 65535 bytes of buffer, less a segment
            ("2.6.18", 4 * MSS, 65_535 - MSS),
            ("2.6.39", 10 * MSS, 65_535 - MSS),
            ("3.4", 10 * MSS, 43_690 - MSS),
            ("4.20", 30 * MSS, 43_690 - MSS),
            # 65 of 256
            ("6.6", 15 * MSS, 22_186 - MSS),
            ("6.18", 30 * MSS, 43_690 - MSS),
        ],
    )
    def test_segments_and_room(self, version: str, first: int, clamp: int) -> None:
        window = make(version)
        assert (window.first, window.window_clamp) == (first, clamp)
        assert window.rcv_ssthresh == min(first, clamp)

    @pytest.mark.parametrize(
        ("version", "mss", "segments"),
        [
            # RFC 3390: about 4380 bytes
            ("2.6.18", 1460, 4),
            ("2.6.18", 1461, 3),
            ("2.6.18", 4380, 3),
            ("2.6.18", 4381, 2),
            # RFC 6928: about 14600
            ("2.6.39", 1461, 9),
            ("2.6.39", 4380, 3),
            ("2.6.39", 7300, 2),
            ("2.6.39", 8960, 2),
        ],
    )
    def test_long_segments_are_fewer(self, version: str, mss: int, segments: int) -> None:
        assert make(version, advmss=mss, rmem_default=200_000).first == segments * mss

    def test_a_buffer_too_small_for_them_is_widened_but_not_one_that_was_set(self) -> None:
        for locked, expected in ((False, 4 * 2048), (True, 4096)):
            assert make("2.6.18", rmem_default=4096, locked=locked).rcvbuf == expected
        assert make("2.6.18", rmem_default=4096, rmem_max=6000).rcvbuf == 6000

    @pytest.mark.parametrize(
        ("rmem_max", "scale"),
        [(65_535, 0), (65_536, 1), (131_071, 1), (6_291_456, 7), (1 << 29, 14), (1 << 31, 14)],
    )
    def test_scale_is_what_the_largest_buffer_needs(self, rmem_max: int, scale: int) -> None:
        assert make("2.6.18", rmem_max=rmem_max, rmem_default=60_000).wscale == scale

    def test_without_the_option_nothing_is_scaled(self) -> None:
        assert make("2.6.18", scaling=False).wscale == 0


class TestOffer:
    def test_what_is_offered_is_rounded_up_to_the_scale(self) -> None:
        assert make("2.6.18").offer(0, MSS) == 5888  # 46 x 128, of 5792

    @pytest.mark.parametrize(
        ("current", "offered"), [(0, 5792), (4344, 5792), (4345, 4345), (5792, 5792), (5793, 5792)]
    )
    def test_without_a_scale_it_moves_by_whole_segments(self, current: int, offered: int) -> None:
        assert make("2.6.18", scaling=False).offer(current, MSS) == offered

    @pytest.mark.parametrize(
        ("version", "segments", "scarce", "offered"),
        [
            # 87380 bytes: 21 of 2048 leave 44372, three quarters of which are 33279
            ("2.6.18", 0, False, 5888),
            ("2.6.18", 21, False, 5888),
            ("2.6.18", 22, True, 5888),
            ("2.6.18", 39, True, 5632),
            ("2.6.18", 41, True, 2560),
            # 1364 bytes, 1023 for the window: less than a segment
            ("2.6.18", 42, True, 0),
            # half of 5460 bytes is one sixteenth of 43690, or less
            ("3.15", 39, True, 3712),
            ("3.15", 40, True, 0),
        ],
    )
    def test_it_shrinks_with_what_is_free(
        self, version: str, segments: int, offered: int, *, scarce: bool
    ) -> None:
        window = make(version)
        for _ in range(segments):
            window.queue.append(MSS, 2048, 0)
        assert window.allocated() == 2048 * segments
        assert window.offer(0, MSS) == offered
        assert window.scarce == scarce


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

    @pytest.mark.parametrize("version", ["2.6.18", "3.15", "6.18"])
    @pytest.mark.parametrize("option", [{"moderate": False}, {"locked": True}])
    def test_not_where_it_is_off_or_so_rcvbuf_was_set(
        self, version: str, option: dict[str, bool]
    ) -> None:
        assert self.measured(version, 60_000, **option).rcvbuf == 87_380

    def test_a_round_trip_is_a_window_of_data_and_the_shortest_counts(self) -> None:
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
        assert window.rcvbuf == 48 * 2048
        window.queue.append(MSS, 2048, 0)
        assert not window.full_buffer()
        assert (window.rcvbuf, window.rcv_ssthresh) == (100_000, 2 * MSS)

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
        [(5000, 0, 5000), (60_000, 0, 5792), (70_000, 9000, 9000), (70_000, 80_000, 70_000)],
    )
    def test_a_clamp_lowers_what_may_be_offered_or_lets_it_be(
        self, clamp: int, current: int, threshold: int
    ) -> None:
        window = make("2.6.18")
        window.limit(clamp, current)
        assert (window.window_clamp, window.rcv_ssthresh) == (clamp, threshold)
