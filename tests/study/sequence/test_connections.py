"""What each way of a connection carried: sent, sent again, out of order, acknowledged, pauses."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.study.sequence.connections import AGAIN, LATE, SENT, Direction, directions
from simnet.study.sequence.frames import End, Frame

A, B = ("10.0.0.1", 1000), ("10.0.0.2", 2000)
WRAP = 1 << 32


def frame(time_s: float, source: End, **more: Any) -> Frame:
    """One frame, an ACK unless more is said."""
    usual = {"seq": 0, "ack": 0, "payload": 0, "window": 500, "syn": False, "acks": True}
    destination = B if source == A else A
    return Frame(time_s, source, destination, **(usual | {"scale": None, "sack": ()} | more))


def data(time_s: float, seq: int, size: int) -> Frame:
    """A segment from A."""
    return frame(time_s, A, seq=seq % WRAP, payload=size)


def ack(
    time_s: float, number: int, window: int = 500, sack: tuple[tuple[int, int], ...] = ()
) -> Frame:
    """What B says."""
    return frame(time_s, B, ack=number % WRAP, window=window, sack=sack)


def syn(time_s: float, source: End, scale: int | None) -> Frame:
    return frame(time_s, source, seq=99, ack=100, syn=True, acks=source == B, scale=scale)


def only(*frames: Frame) -> Direction:
    return next(one for one in directions(frames) if one.source == A)


def kinds(way: Direction) -> list[str]:
    return [one.kind for one in way.segments]


def test_what_was_seen_before_is_sent_again() -> None:
    way = only(data(0, 0, 10), data(1, 10, 10), data(2, 0, 10), data(3, 20, 10))
    assert kinds(way) == [SENT, SENT, AGAIN, SENT]
    assert (way.payload, way.seconds) == (40, 3)


def test_what_fills_a_gap_is_out_of_order() -> None:
    way = only(data(0, 0, 10), data(1, 20, 10), data(2, 10, 10), data(3, 10, 10))
    assert kinds(way) == [SENT, SENT, LATE, AGAIN]


@pytest.mark.parametrize("first", [0, WRAP - 5, WRAP - 15, 2**31 - 1])
def test_numbers_wrap(first: int) -> None:
    way = only(data(0, first, 10), ack(1, first + 10), data(2, first + 10, 10), ack(3, first + 20))
    assert [(one.start, one.end) for one in way.segments] == [(0, 10), (10, 20)]
    assert [one.ack for one in way.acked] == [10, 20]


@given(
    st.integers(0, WRAP - 1), st.lists(st.integers(1, 3000), min_size=1, max_size=40), st.randoms()
)
def test_every_byte_is_new_once(first: int, sizes: list[int], chance: random.Random) -> None:
    starts = [sum(sizes[:number]) for number in range(len(sizes))]
    whole = list(zip(starts, sizes, strict=True))
    # the first byte first, the others in any order, some of them twice
    rest = whole[1:] + chance.sample(whole, chance.randint(0, len(whole)))
    chance.shuffle(rest)
    frames = [
        data(float(number), first + start, size)
        for number, (start, size) in enumerate([whole[0], *rest])
    ]
    way = only(*frames)
    new = sum(one.end - one.start for one in way.segments if one.kind != AGAIN)
    assert new == sum(sizes)
    assert way.payload - new == sum(size for _, size in rest) - sum(sizes[1:])


def test_windows_are_scaled_where_both_ends_say_so() -> None:
    scaled = only(syn(0, A, 7), syn(1, B, 3), data(2, 100, 10), ack(3, 110, 50))
    assert scaled.scaled
    assert scaled.acked[-1].edge - scaled.acked[-1].ack == 50 << 3
    plain = only(syn(0, A, 7), syn(1, B, None), data(2, 100, 10), ack(3, 110, 50))
    assert not plain.scaled
    assert plain.acked[-1].edge - plain.acked[-1].ack == 50


def test_sack_blocks_are_bytes_of_the_connection() -> None:
    way = only(data(0, WRAP - 4, 10), data(1, 16, 10), ack(2, 6, sack=((16, 26),)))
    assert way.acked[-1].sack == ((20, 30),)


@pytest.mark.parametrize(
    ("frames", "ends"),
    [
        ([ack(5.99, 10), data(6, 10, 10)], "ends with an ACK"),
        ([ack(1.0, 10), data(6, 10, 10)], "finds all acknowledged"),
        ([data(6, 0, 10)], "ends with a segment sent again"),
        ([frame(5.9, B, ack=10, payload=8), data(6, 10, 10)], "ends with data of the other end"),
    ],
)
def test_a_pause_says_how_it_ends(frames: list[Frame], ends: str) -> None:
    pause = only(data(0, 0, 5), data(0.5, 5, 5), *frames).pause()
    assert pause is not None
    assert (pause.start_s, pause.seconds, pause.ends) == (0.5, 5.5, ends)


def test_a_closed_window_ends_when_it_opens() -> None:
    hands = (syn(0, A, 0), syn(0.1, B, 0), ack(0.2, 100, 10))
    shut, opened = ack(1.1, 110, 0), ack(5.95, 110, 500)
    pause = only(*hands, data(1, 100, 10), shut, opened, data(6, 110, 10)).pause()
    assert pause is not None
    assert pause.ends == "ends with a larger window"


def test_ways_with_payload_come_by_their_bytes() -> None:
    answer = frame(1, B, ack=10, payload=200)
    found = directions([data(0, 0, 10), answer, ack(2, 10)])
    assert [(one.source, one.payload) for one in found] == [(B, 200), (A, 10)]
    assert directions([ack(0, 0)]) == []
