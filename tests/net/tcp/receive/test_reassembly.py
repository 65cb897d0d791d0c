"""Segments ahead of a hole, step by step as `tcp_data_queue_ofo` and `tcp_ofo_queue` have it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.tcp.receive.queue import ReceiveQueue, SkbSizes
from simnet.net.tcp.receive.reassembly import Reassembly
from tests.house.examples import examples

Span = tuple[int, int]

BELOW, ABOVE = (1, 2), (1000, 1001)


def make(*spans: Span, coalesces: bool = False) -> Reassembly:
    """What keeps these segments; each byte takes a byte of memory, or a slab object if it counts.

    Args:
        spans: of segments, in the order in which they come.
        coalesces: segments have room behind them.
    """
    sizes = SkbSizes() if coalesces else SkbSizes(1, part_bytes=1)
    held = Reassembly(sizes, coalesces=coalesces)
    for first, last in spans:
        assert not held.insert(first, last, 0)
    return held


def spans(held: Reassembly) -> list[Span]:
    """First byte and last plus one of all segments."""
    assert held.count == len(held.segments)
    assert held.memory == sum(segment[2] for segment in held.segments)
    return [(segment[0], segment[1]) for segment in held.segments]


class TestInsert:
    def test_nothing_is_kept_at_first(self) -> None:
        held = make()
        assert (spans(held), held.memory, held.blocks, held.duplicate) == ([], 0, [], None)
        assert (held.kept, held.added, held.option(4)) == (True, 0, [])

    @pytest.mark.parametrize("around", [[], [BELOW, ABOVE]], ids=["alone", "among others"])
    @pytest.mark.parametrize(
        ("before", "comes", "after", "duplicate"),
        [
            # apart from the others
            ([], (10, 20), [(10, 20)], None),
            ([(10, 20)], (30, 40), [(10, 20), (30, 40)], None),
            ([(30, 40)], (10, 20), [(10, 20), (30, 40)], None),
            ([(10, 20)], (20, 30), [(10, 20), (20, 30)], None),
            ([(20, 30)], (10, 20), [(10, 20), (20, 30)], None),
            ([(10, 20), (30, 40)], (20, 30), [(10, 20), (20, 30), (30, 40)], None),
            # the tail of one
            ([(10, 20)], (15, 25), [(10, 20), (15, 25)], (15, 20)),
            ([(10, 20)], (11, 21), [(10, 20), (11, 21)], (11, 20)),
            # all of one, or several, which go
            ([(10, 20)], (10, 25), [(10, 25)], (10, 20)),
            ([(10, 20)], (5, 20), [(5, 20)], (10, 20)),
            ([(10, 20)], (5, 25), [(5, 25)], (10, 20)),
            ([(10, 20), (20, 30)], (10, 35), [(10, 35)], (10, 30)),
            ([(10, 20), (20, 30)], (15, 35), [(10, 20), (15, 35)], (15, 30)),
            # a D-SACK is one block: what does not touch it is not told
            ([(10, 20), (25, 30)], (5, 35), [(5, 35)], (10, 20)),
            # the head of one
            ([(10, 20)], (5, 15), [(5, 15), (10, 20)], (10, 15)),
            ([(11, 20)], (10, 15), [(10, 15), (11, 20)], (11, 15)),
            ([(10, 20), (20, 30), (30, 40)], (5, 35), [(5, 35), (30, 40)], (10, 35)),
        ],
    )
    def test_what_is_kept_and_what_was_there_before(
        self,
        around: list[Span],
        before: list[Span],
        comes: Span,
        after: list[Span],
        duplicate: Span | None,
    ) -> None:
        held = make(*around, *before)
        assert not held.insert(*comes, 0)
        assert spans(held) == sorted([*around, *after])
        assert held.duplicate == duplicate
        assert (held.kept, held.added) == (True, comes[1] - comes[0])

    @pytest.mark.parametrize("around", [[], [BELOW, ABOVE]], ids=["alone", "among others"])
    @pytest.mark.parametrize("comes", [(10, 20), (10, 15), (12, 18), (19, 20)])
    def test_what_is_there_is_dropped_and_reported(self, around: list[Span], comes: Span) -> None:
        held = make(*around, (10, 20))
        assert not held.insert(*comes, 0)
        assert spans(held) == sorted([*around, (10, 20)])
        assert (held.duplicate, held.kept, held.added) == (comes, False, 0)
        # the next one is kept
        held.insert(50, 60, 0)
        assert (held.kept, held.added) == (True, 10)

    def test_a_report_grows_where_it_is_touched(self) -> None:
        held = make((10, 20))
        held.repeated(15, 30)
        held.insert(5, 25, 0)
        assert held.duplicate == (10, 30)
        for reported, grown in (((2, 10), (2, 20)), ((20, 25), (10, 25)), ((2, 9), (2, 9))):
            held = make((10, 20))
            held.repeated(*reported)
            held.insert(5, 25, 0)
            assert held.duplicate == grown
        held = make((10, 20))
        held.repeated(21, 30)
        held.insert(5, 25, 0)
        assert held.duplicate == (21, 30)


class TestCoalescing:
    """`tcp_ooo_try_coalesce`: behind 1000 bytes in a slab object of 2048 there are 624."""

    @pytest.mark.parametrize(("length", "behind"), [(624, True), (625, False)])
    def test_into_the_room_behind_a_segment(self, length: int, *, behind: bool) -> None:
        held = make((1000, 2000), coalesces=True)
        assert held.memory == held.added == 2304
        held.insert(2000, 2000 + length, 0)
        kept = [(1000, 2000 + length)] if behind else [(1000, 2000), (2000, 2000 + length)]
        assert spans(held) == kept
        assert held.added == (0 if behind else 2304)
        assert (held.kept, held.duplicate) == (True, None)
        assert held.blocks == [(1000, 2000 + length)]

    def test_room_is_used_up(self) -> None:
        parts = [(1000, 2000), (2000, 2300), (2300, 2600)]
        held = make(*parts, (2600, 2625), coalesces=True)
        assert spans(held) == [(1000, 2600), (2600, 2625)]
        held = make(*parts, (2600, 2624), coalesces=True)
        assert held.segments == [(1000, 2624, 2304, 0)]

    def test_not_behind_a_hole_nor_before_3_5(self) -> None:
        assert spans(make((1000, 2000), (2001, 2100), coalesces=True)) == [
            (1000, 2000),
            (2001, 2100),
        ]
        plain = Reassembly(SkbSizes(), coalesces=False)
        plain.insert(1000, 2000, 0)
        plain.insert(2000, 2100, 0)
        assert spans(plain) == [(1000, 2000), (2000, 2100)]

    def test_behind_one_that_another_overlaps(self) -> None:
        held = make((1000, 2000), (1500, 2500), (5000, 5100), (2000, 2100), coalesces=True)
        assert spans(held) == [(1000, 2100), (1500, 2500), (5000, 5100)]
        held = make((10, 20), (1000, 2000), (1500, 2500), (5000, 5100), coalesces=True)
        held.insert(2000, 2100, 0)
        assert spans(held) == [(10, 20), (1000, 2100), (1500, 2500), (5000, 5100)]
        held.insert(2500, 2600, 0)
        assert spans(held) == [(10, 20), (1000, 2100), (1500, 2600), (5000, 5100)]


class TestBlocks:
    """`tcp_sack_new_ofo_skb`: the block that has changed comes first, four are remembered."""

    @pytest.mark.parametrize(
        ("came", "blocks"),
        [
            ([(10, 20), (30, 40)], [(30, 40), (10, 20)]),
            ([(30, 40), (10, 20)], [(10, 20), (30, 40)]),
            # one touches another at either end
            ([(10, 20), (30, 40), (20, 25)], [(10, 25), (30, 40)]),
            ([(10, 20), (30, 40), (5, 10)], [(5, 20), (30, 40)]),
            ([(10, 20), (30, 40), (21, 25)], [(21, 25), (30, 40), (10, 20)]),
            ([(10, 20), (30, 40), (5, 9)], [(5, 9), (30, 40), (10, 20)]),
            # or joins two, whichever was first
            ([(10, 20), (30, 40), (20, 30)], [(10, 40)]),
            ([(30, 40), (10, 20), (20, 30)], [(10, 40)]),
            ([(10, 20), (50, 60), (30, 40), (20, 30)], [(10, 40), (50, 60)]),
            ([(30, 40), (50, 60), (10, 20), (15, 35)], [(10, 40), (50, 60)]),
            ([(10, 20), (30, 40), (50, 60), (15, 55)], [(10, 60)]),
            # one that is there comes first, too
            ([(10, 20), (30, 40), (12, 18)], [(10, 20), (30, 40)]),
            ([(n, n + 5) for n in (10, 20, 30, 40)], [(40, 45), (30, 35), (20, 25), (10, 15)]),
            ([(n, n + 5) for n in (10, 20, 30, 40, 50)], [(50, 55), (40, 45), (30, 35), (20, 25)]),
        ],
    )
    def test_newest_first(self, came: list[Span], blocks: list[Span]) -> None:
        held = make(*came)
        assert held.blocks == blocks

    @pytest.mark.parametrize(
        ("came", "comes", "told"),
        [
            # a third block, or the third of them: ACKs that are held back must tell it first
            ([(10, 20), (30, 40)], (50, 60), [(30, 40), (10, 20)]),
            ([(10, 20), (30, 40)], (5, 8), [(30, 40), (10, 20)]),
            ([(10, 20), (30, 40), (50, 60)], (20, 25), [(50, 60), (30, 40), (10, 25)]),
            ([(10, 20), (30, 40), (50, 60)], (12, 18), [(50, 60), (30, 40), (10, 20)]),
            ([(10, 20), (30, 40), (50, 60)], (70, 80), [(50, 60), (30, 40), (10, 20)]),
            # the first two have a place in the next ACK anyway
            ([(10, 20), (30, 40), (50, 60)], (40, 45), None),
            ([(10, 20), (30, 40)], (20, 25), None),
            ([(10, 20)], (30, 40), None),
            ([], (10, 20), None),
        ],
    )
    @pytest.mark.parametrize("compressed", [0, 1, 5])
    def test_held_back_acks_go_out_before_a_third_block(
        self, came: list[Span], comes: Span, told: list[Span] | None, compressed: int
    ) -> None:
        held = make(*came)
        assert held.insert(*comes, compressed) == (told is not None and compressed > 0)
        duplicate = [held.duplicate] if held.duplicate else []
        now = duplicate + (told if told and compressed else held.blocks)
        assert held.option(4) == now[:4]
        # once
        assert held.option(4) == held.blocks

    def test_a_duplicate_is_told_first_and_once(self) -> None:
        held = make((10, 20), (30, 40), (50, 60))
        held.repeated(1, 5)
        assert held.option(3) == [(1, 5), (50, 60), (30, 40)]
        assert held.duplicate is None
        assert held.option(3) == [(50, 60), (30, 40), (10, 20)]
        assert held.option(1) == [(50, 60)]


class TestRelease:
    @pytest.mark.parametrize(
        ("came", "rcv_nxt", "reached", "queued", "left", "duplicate"),
        [
            ([(20, 30)], 19, 19, [], [(20, 30)], None),
            ([(20, 30), (40, 50)], 20, 30, [(20, 30)], [(40, 50)], None),
            ([(20, 30), (30, 50)], 20, 50, [(20, 30), (30, 50)], [], None),
            # what has come again
            ([(20, 30), (40, 50)], 30, 30, [], [(40, 50)], (20, 30)),
            ([(20, 30), (40, 50)], 25, 30, [(25, 30)], [(40, 50)], (20, 25)),
            ([(20, 30), (30, 40), (60, 70)], 35, 40, [(35, 40)], [(60, 70)], (20, 35)),
            ([(20, 30), (40, 50)], 70, 70, [], [], (20, 30)),
            ([(20, 30), (25, 40)], 20, 40, [(20, 30), (30, 40)], [], (25, 30)),
        ],
    )
    def test_what_is_in_order_goes_to_the_reader(
        self,
        came: list[Span],
        rcv_nxt: int,
        reached: int,
        queued: list[Span],
        left: list[Span],
        duplicate: Span | None,
    ) -> None:
        held, queue = make(*came), ReceiveQueue()
        assert held.release(rcv_nxt, queue) == reached
        start = queued[0][0] if queued else 0
        assert [segment[:2] for segment in queue.segments(start)] == queued
        assert (spans(held), held.duplicate) == (left, duplicate)
        assert held.blocks == left[::-1]

    def test_memory_goes_with_it(self) -> None:
        held, queue = make((20, 30), (25, 40)), ReceiveQueue()
        assert held.memory == 25
        held.release(20, queue)
        # five bytes of the second are there twice
        assert (held.memory, queue.memory) == (0, 25)

    @pytest.mark.parametrize(
        ("first", "coalesces", "memory"),
        [(2000, True, 2304), (1990, True, 2304 + 832), (2000, False, 2304 + 832)],
    )
    def test_it_goes_behind_what_was_the_last(
        self, first: int, memory: int, *, coalesces: bool
    ) -> None:
        held, queue = Reassembly(SkbSizes(), coalesces=coalesces), ReceiveQueue()
        queue.append(1000, 2304, 624)
        held.insert(first, 2100, 0)
        assert held.release(2000, queue) == 2100
        assert (queue.memory, held.memory, held.count) == (memory, 0, 0)
        assert queue.segments(1000)[-1][1] == 2100

    def test_with_the_room_behind_it(self) -> None:
        held, queue = make((2000, 2100), coalesces=True), ReceiveQueue()
        held.release(2000, queue)
        # 152 bytes fit into the smallest slab object
        assert not queue.coalesce(53)
        assert queue.coalesce(52)


class TestNoMemory:
    def test_all_are_dropped(self) -> None:
        held = make((10, 20), (30, 40))
        held.repeated(10, 20)
        held.purge()
        assert (spans(held), held.memory, held.option(4)) == ([], 0, [])
        held.insert(30, 40, 1)
        assert (spans(held), held.blocks) == ([(30, 40)], [(30, 40)])

    @pytest.mark.parametrize("forget", [False, True])
    def test_or_copied_or_dropped_in_part(self, forget: bool) -> None:  # noqa: FBT001
        held = make((10, 20), (20, 30), (40, 50))
        held.repeated(12, 15)
        held.replace([(10, 30, 70, 0)], forget=forget)
        assert (spans(held), held.memory) == ([(10, 30)], 70)
        assert held.option(4) == ([] if forget else [(12, 15), (40, 50), (10, 30)])


@settings(max_examples=examples(200))
@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 9), st.booleans()), max_size=40),
    st.booleans(),
)
def test_nothing_is_lost_and_nothing_told_that_has_not_come(
    steps: list[tuple[int, int, bool]],
    coalesces: bool,  # noqa: FBT001
) -> None:
    held, queue = make(coalesces=coalesces), ReceiveQueue()
    rcv_nxt = 0
    ahead: set[int] = set()
    for at, length, fills in steps:
        first = rcv_nxt + at
        came = set(range(first, first + length))
        before = set(ahead)
        held.repeated(0, 0)
        held.insert(first, first + length, 0)
        ahead |= came
        if held.duplicate and held.duplicate != (0, 0):
            assert set(range(*held.duplicate)) <= came & before
        kept = [set(range(*span)) for span in spans(held)]
        assert set().union(*kept) == ahead
        assert held.blocks[0][0] <= first < first + length <= held.blocks[0][1]
        for block in held.blocks:
            assert set(range(*block)) <= ahead
        if fills:
            rcv_nxt = held.release(rcv_nxt + 3, queue)
            ahead = {byte for byte in ahead if byte >= rcv_nxt}
            assert rcv_nxt not in ahead
