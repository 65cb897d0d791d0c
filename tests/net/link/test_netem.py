"""The way between two hosts: netem's arithmetic, and what is known in closed form of its losses."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.kernel.random import stream
from simnet.net.link.ethernet import UNCOUNTED_BYTES
from simnet.net.link.netem import LOST, Netem

MS = 10**9
FRAMES = 100_000
PPB = 10**9


def _sent(way: Netem, gaps_ps: list[int], length: int = 1514) -> list[tuple[int, int]]:
    """Time of each frame, and when it leaves."""
    now, found = 0, []
    for gap in gaps_ps:
        now += gap
        found.append((now, int(way.leaves_ps(now, length + UNCOUNTED_BYTES))))
    return found


def test_a_frame_leaves_after_the_delay_and_behind_the_one_before() -> None:
    # `netem_enqueue`: 1250 bytes at 10 Mbit/s take 1 ms; the delay runs while frames wait
    way = Netem("way", None, delay_ps=5 * MS, rate_bps=10_000_000)
    found = [left for _, left in _sent(way, [0, 0, 0, 10 * MS], 1250)]
    assert found == [6 * MS, 7 * MS, 8 * MS, 16 * MS]
    assert way.bytes == 4 * 1250


def test_frames_above_the_limit_are_dropped_and_those_under_way_count() -> None:
    # the trap of tc-netem(8): 3 frames within 5 ms are 600 frames a second, whatever the rate
    way = Netem("way", None, delay_ps=5 * MS, limit=3)
    found = _sent(way, [MS] * 12)
    assert [left != LOST for _, left in found] == [True] * 3 + [False] * 2 + [True] * 3 + [
        False, False, True, True,
    ]  # fmt: skip
    assert (way.sent, way.dropped) == (12, 4)


@given(
    st.lists(st.integers(0, 2 * MS), min_size=1, max_size=60),
    st.integers(0, 20 * MS),
    st.sampled_from([0, 1_000_000, 10_000_000]),
    st.integers(0, 9),
    st.integers(0, PPB),
    st.integers(0, PPB),
)
def test_every_frame_is_delivered_or_counted_and_none_overtakes(
    gaps: list[int], delay: int, rate: int, limit: int, loss: int, begin: int
) -> None:
    way = Netem(
        "way", stream(1, "way"), delay_ps=delay, rate_bps=rate, limit=limit, loss_ppb=loss,
        begin_ppb=begin, end_ppb=PPB // 3, bad_ppb=PPB // 2, good_ppb=PPB // 100,
    )  # fmt: skip
    assert way.orders
    found = _sent(way, gaps)
    left = [(came, leaves) for came, leaves in found if leaves != LOST]
    assert len(left) + way.lost + way.dropped == way.sent == len(gaps)
    assert all(leaves >= came + delay for came, leaves in left)
    assert [leaves for _, leaves in left] == sorted(leaves for _, leaves in left)
    if rate:
        served = 1514 * 8 * 10**12 // rate
        pairs = itertools.pairwise(left)
        assert all(after - before >= served for (_, before), (_, after) in pairs)
    if limit:
        under_way = [
            sum(leaves > came for _, leaves in left[:n]) for n, (came, _) in enumerate(left)
        ]
        assert all(count < limit for count in under_way)


def test_losses_by_themselves_are_as_many_as_asked() -> None:
    way = Netem("way", stream(3, "way"), loss_ppb=PPB // 50)
    _sent(way, [1] * FRAMES)
    assert way.lost == pytest.approx(FRAMES / 50, abs=4 * math.sqrt(FRAMES / 50))


def test_bursts_have_the_share_and_the_length_of_gilbert_and_elliott() -> None:
    # stationary: p / (p + r) of the frames meet the bad state; bursts last 1 / r frames
    begin, end = 0.01, 0.2
    way = Netem(
        "way", stream(5, "way"), begin_ppb=int(begin * PPB), end_ppb=int(end * PPB), bad_ppb=PPB
    )
    lost = [left == LOST for _, left in _sent(way, [1] * FRAMES)]
    bursts = sum(now and not before for before, now in itertools.pairwise(lost))
    assert sum(lost) / FRAMES == pytest.approx(begin / (begin + end), rel=0.1)
    assert sum(lost) / bursts == pytest.approx(1 / end, rel=0.1)


def test_a_way_that_loses_nothing_draws_nothing() -> None:
    way = Netem("way", None, delay_ps=MS)
    assert _sent(way, [MS] * 3) == [(MS, 2 * MS), (2 * MS, 3 * MS), (3 * MS, 4 * MS)]


def test_nothing_is_served_of_a_frame_that_has_not_come() -> None:
    way = Netem("way", None, rate_bps=8 * 10**9)
    leaves_ps = way.leaves_ps(10**9, 1000 + UNCOUNTED_BYTES)
    assert [way.carried_bytes(at) for at in (0, leaves_ps - 500 * 1000, leaves_ps)] == [
        0,
        500,
        1000,
    ]


def test_jitter_is_even_around_the_delay_and_no_frame_leaves_before_it_came() -> None:
    way = Netem("way", stream(7, "way"), delay_ps=5 * MS, jitter_ps=2 * MS)
    late = [left - came for came, left in _sent(way, [MS] * FRAMES)]
    assert not way.orders
    assert (min(late) // (MS // 100), max(late) // (MS // 100)) == (300, 699)
    assert sum(late) / FRAMES == pytest.approx(5 * MS, rel=0.01)
    # a quarter of the range holds a quarter of the frames
    assert sum(each < 4 * MS for each in late) / FRAMES == pytest.approx(0.25, rel=0.05)
    early = Netem("way", stream(7, "way"), delay_ps=MS, jitter_ps=3 * MS)
    at_once = [left == came for came, left in _sent(early, [MS] * FRAMES)]
    # 2 of 6 ms are before the frame's own time
    assert sum(at_once) / FRAMES == pytest.approx(1 / 3, rel=0.05)


def test_jitter_before_a_bottleneck_changes_no_order() -> None:
    way = Netem("way", stream(7, "way"), delay_ps=5 * MS, jitter_ps=4 * MS, rate_bps=100_000_000)
    left = [each for _, each in _sent(way, [MS // 8] * 1000)]
    assert way.orders
    assert left == sorted(left)


def test_the_last_of_each_gap_leaves_before_all_that_wait() -> None:
    # `reorder 100% gap 5` of tc-netem(8): the 5th, the 10th and so on are sent at once
    way = Netem("way", stream(7, "way"), delay_ps=10 * MS, reorder_ppb=PPB, gap=5)
    late = [left - came for came, left in _sent(way, [MS] * 20)]
    assert late == ([10 * MS] * 4 + [0]) * 4
    assert way.reordered == 4
    assert not way.orders


def test_frames_are_reordered_by_the_share_of_those_that_may() -> None:
    # each may: a share of p; with a gap of 5 four wait and then each has its chance
    share = 0.25
    for gap, law in ((1, share), (5, 1 / (4 + 1 / share))):
        way = Netem("way", stream(9, "way"), delay_ps=MS, reorder_ppb=int(share * PPB), gap=gap)
        _sent(way, [1] * FRAMES)
        assert way.reordered / FRAMES == pytest.approx(law, rel=0.05)


def test_a_copy_enters_before_its_original_and_is_not_copied() -> None:
    way = Netem("way", stream(7, "way"), rate_bps=10_000_000, duplicate_ppb=PPB)
    left = way.leaves_ps(0, 1250 + UNCOUNTED_BYTES)
    assert (way.copy_ps, left) == (MS, 2 * MS)
    assert (way.sent, way.duplicated, way.bytes) == (1, 1, 2500)


def test_what_is_copied_and_lost_comes_once() -> None:
    way = Netem("way", stream(7, "way"), duplicate_ppb=PPB, loss_ppb=PPB)
    assert way.leaves_ps(0, 1000) == 0
    assert (way.copy_ps, way.lost, way.duplicated) == (LOST, 0, 0)


@given(
    st.lists(st.integers(0, 2 * MS), min_size=1, max_size=60),
    st.integers(0, 9),
    st.sampled_from([0, PPB // 3]),
    st.sampled_from([0, PPB // 3, PPB]),
    st.sampled_from([0, PPB // 3, PPB]),
)
def test_frames_and_copies_are_delivered_or_counted(
    gaps: list[int], limit: int, loss: int, duplicate: int, reorder: int
) -> None:
    way = Netem(
        "way", stream(1, "way"), delay_ps=5 * MS, jitter_ps=5 * MS, limit=limit, loss_ppb=loss,
        duplicate_ppb=duplicate, reorder_ppb=reorder, gap=2,
    )  # fmt: skip
    now, arrived = 0, 0
    for gap in gaps:
        now += gap
        left = [way.leaves_ps(now, 1000), way.copy_ps]
        arrived += sum(each != LOST for each in left)
        assert all(each == LOST or now <= each <= now + 10 * MS for each in left)
    assert arrived + way.lost + way.dropped == way.sent + way.duplicated
