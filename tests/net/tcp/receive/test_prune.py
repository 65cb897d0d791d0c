"""What is done when memory has run out, against net/ipv4/tcp_input.c of Linux 3.5 and later."""

from typing import ClassVar

import pytest

from simnet.net.tcp.receive.prune import Segment, collapsed, collapsed_ranges, pruned
from simnet.net.tcp.receive.queue import SkbSizes
from simnet.net.tcp.receive.window import ReceiveWindow
from simnet.net.tcp.rules.receiver_version import receiver_rules


def window(rcvbuf: int = 80_000) -> ReceiveWindow:
    """A buffer half of which is for payload."""
    return ReceiveWindow(
        receiver_rules("3.5"),
        SkbSizes(),
        advmss=1000,
        rmem_default=rcvbuf,
        rmem_max=rcvbuf,
        moderate=False,
        locked=True,
        scaling=True,
    )


def copied(first: int, last: int) -> Segment:
    """As it is in a buffer of its own: a slab object with 320 bytes of `skb_shared_info`."""
    length = last - first
    slab = next(
        slab
        for most, slab in ((256, 576), (704, 1024), (1728, 2048), (3776, 4096))
        if length <= most
    )
    return first, last, slab + 256, slab - 320 - length


class TestCollapsed:
    """`tcp_collapse` of one range of segments."""

    def test_what_fills_its_memory_stays(self) -> None:
        segments = [(0, 1000, 2000, 5), (1000, 2000, 2000, 5), (2000, 2500, 1000, 0)]
        assert collapsed(segments, 0, window()) is segments
        assert collapsed([], 0, window()) == []

    @pytest.mark.parametrize("length", [1, 256, 257, 704, 705, 1728, 1729, 3775, 3776])
    def test_one_that_wastes_it_is_copied(self, length: int) -> None:
        segments = [(50, 50 + length, 2 * length + 2, 7)]
        assert collapsed(segments, 50, window()) == [copied(50, 50 + length)]

    def test_from_the_first_one_that_does(self) -> None:
        good = [(0, 1000, 2000, 5), (1000, 2000, 2000, 5), (2000, 3000, 2000, 5)]
        bad = [(3000, 3100, 832, 5), (3100, 4100, 2000, 0), (4100, 4200, 832, 5)]
        assert collapsed(good + bad, 0, window()) == [*good, copied(3000, 4200)]

    def test_in_pages(self) -> None:
        segments = [(10 + 100 * n, 110 + 100 * n, 832, 0) for n in range(80)]
        assert collapsed(segments, 10, window()) == [
            copied(10, 3786),
            copied(3786, 7562),
            copied(7562, 8010),
        ]

    @pytest.mark.parametrize("second", [(900, 1900), (500, 900)])
    def test_what_overlaps_is_copied_once(self, second: tuple[int, int]) -> None:
        segments = [(0, 1000, 2000, 0), (*second, 2 * (second[1] - second[0]), 0)]
        assert collapsed(segments, 0, window()) == [copied(0, max(1000, second[1]))]
        behind = [(-50, 0, 100, 0), *segments]
        assert collapsed(behind, -50, window()) == [
            (-50, 0, 100, 0),
            copied(0, max(1000, second[1])),
        ]

    def test_what_has_been_read_is_left_out(self) -> None:
        segments = [(0, 1000, 2000, 0), (1000, 2000, 2000, 0)]
        assert collapsed(segments, 1, window()) == [copied(1, 2000)]
        assert collapsed(segments, 0, window()) is segments


class TestRanges:
    """`tcp_collapse_ofo_queue`: each range without a hole by itself."""

    def test_of_several_segments(self) -> None:
        first = [(100, 110, 832, 5), (110, 120, 832, 5)]
        second = [(200, 210, 832, 5), (205, 230, 832, 5), (220, 225, 832, 5), (230, 240, 832, 0)]
        full = [(300, 400, 200, 0), (400, 500, 200, 0)]
        assert collapsed_ranges(first + second + full, window()) == [
            copied(100, 120),
            copied(200, 240),
            *full,
        ]

    def test_a_byte_between_them_is_a_hole(self) -> None:
        segments = [(100, 110, 832, 5), (111, 120, 832, 5)]
        assert collapsed_ranges(segments, window()) == segments

    @pytest.mark.parametrize(("length", "alone"), [(3775, True), (3776, False)])
    def test_one_by_itself_only_if_it_takes_a_page(self, length: int, *, alone: bool) -> None:
        segment = (5000, 5000 + length, 20_000, 5)
        whole = window(1 << 20)
        assert collapsed_ranges([segment], whole) == [
            segment if alone else copied(5000, 5000 + length)
        ]

    @pytest.mark.parametrize(("rcvbuf", "goes_on"), [(9599, False), (9600, True)])
    def test_it_ends_where_small_ones_take_an_eighth_of_the_buffer(
        self, rcvbuf: int, *, goes_on: bool
    ) -> None:
        before = [(10, 20, 900, 1), (20, 30, 900, 2)]
        small = [(40, 50, 400, 3), (60, 70, 400, 4), (80, 90, 400, 5)]
        after = [(100, 110, 900, 6), (110, 120, 900, 7)]
        packed = [copied(10, 30), *small, *([copied(100, 120)] if goes_on else after)]
        assert collapsed_ranges(before + small + after, window(rcvbuf)) == packed


class TestPruned:
    """`tcp_prune_ofo_queue`: five segments of 100 bytes of memory, the highest go first."""

    SEGMENTS: ClassVar = [(n, n + 10, 100, 0) for n in (20, 40, 60, 80, 100)]

    @pytest.mark.parametrize(
        ("seq", "spare", "batch", "kept"),
        [
            # looked at after each
            (-1, 399, 0, 3),
            (-1, 400, 0, 4),
            (-1, 99, 0, 0),
            # after each 200 bytes, or so
            (-1, 400, 200, 3),
            (-1, 400, 201, 2),
            (-1, 300, 200, 3),
            (-1, 299, 200, 1),
            (-1, 250, 101, 1),
            (-1, 99, 200, 0),
            (-1, 100, 1000, 0),
            # what is before the segment that has come stays
            (80, 0, 0, 3),
            (81, 0, 0, 4),
            (101, 0, 0, 5),
            (41, 250, 0, 2),
            (41, 350, 0, 3),
            (20, 0, 0, 0),
        ],
    )
    def test_until_there_is_enough(self, seq: int, spare: int, batch: int, kept: int) -> None:
        assert pruned(self.SEGMENTS, seq, spare, batch) == self.SEGMENTS[:kept]

    def test_by_what_each_takes(self) -> None:
        segments = [(20, 30, 500, 0), (40, 50, 30, 0), (60, 70, 2, 0)]
        assert pruned(segments, -1, 529, 0) == segments[:1]
        assert pruned(segments, -1, 530, 0) == segments[:2]
        assert pruned(segments, -1, 530, 32) == segments[:1]
        assert len(segments) == 3

    def test_nothing_to_drop(self) -> None:
        assert pruned([], -1, 0, 0) == []
