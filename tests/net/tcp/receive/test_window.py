"""Buffer and window of a receiver against `net/ipv4/tcp_input.c` and `tcp_output.c`, by hand.

Buffers of 2048 bytes a segment. Up to 3.3 three quarters of memory are for the window, then half;
from 6.6 on a share that is measured.
"""

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

    @pytest.mark.parametrize(
        ("rcvbuf", "clamp"),
        [(1332, 999), (2666, 2000), (2668, 2000), (4000, 2000), (4001, 2001), (5336, 3002)],
    )
    def test_room_for_a_segment_is_kept_back_where_two_are_left(
        self, rcvbuf: int, clamp: int
    ) -> None:
        assert make("2.6.18", advmss=1000, rmem_default=rcvbuf, locked=True).window_clamp == clamp

    def test_a_buffer_below_a_segment_is_offered_whole(self) -> None:
        assert make("4.20", rmem_default=2000, locked=True).first == 1000

    def test_a_segment_whose_share_is_all_payload_needs_no_more(self) -> None:
        for buffer, memory in ((1930, 1930), (1929, 1929 + 128)):
            assert make("2.6.18", buffer, rmem_default=4096).rcvbuf == 4 * memory

    @pytest.mark.parametrize(
        ("version", "space"),
        [("2.6.18", 4 * MSS), ("3.14", 10 * MSS), ("4.20", 10 * MSS), ("6.18", 10 * MSS)],
    )
    def test_right_sizing_begins_with_ten_segments_at_most(self, version: str, space: int) -> None:
        window = make(version)
        assert (window.rcvq_space, window.rtt, window.scarce) == (space, 0, False)

    def test_and_with_no_more_than_is_offered(self) -> None:
        small = {"advmss": 1000, "rmem_default": 4000, "locked": True}
        assert make("2.6.18", **small).rcvq_space == 3000
        # half of 6000
        assert make("3.15", **small | {"rmem_default": 6000}).rcvq_space == 2000

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

    @pytest.mark.parametrize(
        ("segments", "scarce", "offered"),
        [
            # half of 87380 bytes, less a segment; then half of what is free
            (0, False, 42_368),
            (22, False, 21_248),
            (23, True, 20_096),
            (39, True, 3712),
            (40, True, 0),
            # more than there is
            (43, True, 0),
            (50, True, 0),
        ],
    )
    def test_by_a_measured_share(self, segments: int, offered: int, *, scarce: bool) -> None:
        window = make("6.18")
        for number in range(segments):
            if number % 2:
                window.queue.append(MSS, 2048, 0)
            else:
                window.held.insert(10_000 + 2000 * number, 10_000 + 2000 * number + MSS, 0)
        assert window.allocated() == 2048 * segments
        assert (window.offer(0, MSS), window.scarce) == (offered, scarce)

    @pytest.mark.parametrize(
        ("memory", "current", "rcv_mss", "offered"),
        [
            # half of 2048 bytes is a sixteenth of 16384
            (30_720, 0, 500, 1000),
            (30_722, 0, 500, 0),
            (30_720, 0, 1024, 1024),
            (30_720, 0, 1025, 0),
            # nothing but whole segments are added, and nothing is taken back
            (30_720, 524, 500, 1000),
            (30_720, 525, 500, 525),
            (30_720, 1024, 500, 1024),
            (30_720, 1025, 500, 1000),
            # half of the buffer is not scarce
            (16_384, 0, 9000, 0),
            (16_386, 0, 9000, 0),
            (16_386, 0, 1, 8191),
        ],
    )
    def test_when_little_is_free(
        self, memory: int, current: int, rcv_mss: int, offered: int
    ) -> None:
        window = make("3.15", rmem_default=32_768, locked=True, scaling=False)
        window.queue.append(MSS, memory, 0)
        assert window.offer(current, rcv_mss) == offered

    def test_scarce_is_less_than_half(self) -> None:
        # no segment is kept back of two: the share is all of the clamp
        for memory, scarce in ((1600, False), (1602, True)):
            window = make("2.6.18", rmem_default=3200, locked=True)
            assert window.window_clamp == 2400
            window.queue.append(100, memory, 0)
            window.offer(0, 100)
            assert window.scarce == scarce

    def test_no_buffer_no_window(self) -> None:
        window = make("2.6.18", rmem_default=0, locked=True, scaling=False)
        assert window.offer(0, MSS) == 0

    @pytest.mark.parametrize(
        ("version", "rcv_mss", "memory", "current", "offered"),
        [
            # 1200 bytes of window at most: more is offered from 601 on, or 601 more
            ("2.6.24", MSS, 800, 0, 0),
            ("2.6.24", MSS, 798, 0, 602),
            ("2.6.23", MSS, 798, 0, 0),
            ("2.6.24", 1199, 798, 0, 0),
            ("2.6.24", MSS, 667, 100, 100),
            ("2.6.24", MSS, 666, 100, 701),
        ],
    )
    def test_a_buffer_below_a_segment_opens_by_half(
        self, version: str, rcv_mss: int, memory: int, current: int, offered: int
    ) -> None:
        window = make(version, rmem_default=1600, locked=True, scaling=False)
        window.queue.append(100, memory, 0)
        assert window.offer(current, rcv_mss) == offered

    def test_a_scale_of_one_rounds_to_even_bytes(self) -> None:
        window = make("2.6.18", advmss=1001, rmem_max=100_000)
        assert window.wscale == 1
        window.limit(3003, 0)
        assert window.offer(0, 1001) == 3004


class TestSpace:
    def test_what_is_free_of_the_buffer(self) -> None:
        window = make("2.6.18", rmem_default=10_000, locked=True)
        assert window.space() == 7500
        window.queue.append(MSS, 2048, 0)
        window.held.insert(9000, 9000 + MSS, 0)
        assert (window.allocated(), window.space()) == (4096, 5904 - 1476)
        assert window.space(2048) == 7952 - 1988
        window.queue.append(MSS, 5903, 0)
        assert window.space() == 1
        window.queue.append(MSS, 1, 0)
        assert window.space() == 0
        window.queue.append(MSS, 2000, 0)
        assert (window.space(), window.space(1999), window.space(2001)) == (0, 0, 1)

    def test_a_share_of_it(self) -> None:
        shares = {version: make(version).from_space(1000) for version in ("2.6.18", "3.4", "6.6")}
        assert shares == {"2.6.18": 750, "3.4": 500, "6.6": 1000 * 65 // 256}
