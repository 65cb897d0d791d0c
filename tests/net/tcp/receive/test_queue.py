"""Memory of an `sk_buff`, and the receive queue, against net/core/skbuff.c and net/ipv4/tcp.c."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.tcp.receive.queue import ReceiveQueue, SkbSizes
from tests.house.examples import examples


class TestSizes:
    """A head holds 64 bytes of NET_SKB_PAD, 40 of headers, payload, 320 of `skb_shared_info`."""

    @pytest.mark.parametrize(
        ("length", "slab", "room"),
        [
            (1, 576, 151),
            (152, 576, 0),
            # headers and payload are rounded up to 64 bytes
            (153, 1024, 447),
            (600, 1024, 0),
            (601, 2048, 1023),
            (1624, 2048, 0),
            (1625, 4096, 2047),
        ],
    )
    def test_a_head_is_the_smallest_slab_object_that_holds_it(
        self, length: int, slab: int, room: int
    ) -> None:
        sizes = SkbSizes()
        assert (sizes.truesize(length), sizes.tailroom(length)) == (slab + 256, room)

    def test_options_take_room_as_payload_does(self) -> None:
        sizes = SkbSizes(header_bytes=52)
        assert (sizes.truesize(140), sizes.truesize(141)) == (832, 1280)
        assert (sizes.tailroom(140), sizes.tailroom(141)) == (0, 447)

    @pytest.mark.parametrize(
        ("length", "buffers"), [(1, 1), (1448, 1), (1449, 2), (2896, 2), (2897, 3)]
    )
    def test_a_device_with_buffers_of_one_size_charges_whole_ones(
        self, length: int, buffers: int
    ) -> None:
        sizes = SkbSizes(2048, part_bytes=1448)
        assert sizes.truesize(length) == buffers * 2048
        assert sizes.tailroom(length) == 0

    def test_a_buffer_a_byte_counts_payload(self) -> None:
        sizes = SkbSizes(1, part_bytes=1)
        assert [sizes.truesize(length) for length in (0, 1, 77)] == [0, 1, 77]
        assert sizes.tailroom(77) == 0

    def test_up_to_65536_bytes_are_one_segment_if_nothing_is_said(self) -> None:
        assert [SkbSizes(2048).truesize(length) for length in (65_536, 65_537)] == [2048, 4096]

    def test_no_payload_no_memory(self) -> None:
        assert SkbSizes().truesize(0) == 0
        assert SkbSizes(2048).truesize(0) == 0
        assert SkbSizes().buffer_bytes == 0


def queue_of(*segments: tuple[int, int], room: int = 0) -> ReceiveQueue:
    """A queue of segments, each (length, memory), with room behind them."""
    queue = ReceiveQueue()
    for length, memory in segments:
        queue.append(length, memory, room)
    return queue


def content(queue: ReceiveQueue) -> list[tuple[int, int]]:
    """(length, memory) of all segments, which follow each other from byte 0 of the first on."""
    segments = queue.segments(0)
    for before, after in pairwise(segments):
        assert before[1] == after[0]
    assert {segment[3] for segment in segments} <= {0}
    return [(last - first, memory) for first, last, memory, _ in segments]


class TestQueue:
    def test_empty(self) -> None:
        queue = ReceiveQueue()
        assert (queue.memory, queue.first_left, content(queue)) == (0, 0, [])
        assert queue.take(5) == 0
        queue.release()
        queue.consume(0)
        assert not queue.coalesce(0)
        assert (queue.memory, queue.first_left) == (0, 0)

    @pytest.mark.parametrize("alike", [1, 2])
    def test_segments_keep_their_order_length_and_memory(self, alike: int) -> None:
        segments = [(5, 10)] * alike
        segments += [(5, 11), (6, 11), (6, 11), (6, 12), (5, 10), (5, 9)]
        queue = queue_of(*segments)
        assert content(queue) == segments
        assert queue.memory == 64 + 10 * alike
        assert queue.segments(100)[-1] == (128 + 5 * alike, 133 + 5 * alike, 9, 0)

    def test_a_first_segment_read_in_part_begins_before_what_is_unread(self) -> None:
        queue = queue_of((10, 20), (10, 20))
        queue.consume(3)
        assert queue.segments(103) == [(100, 110, 20, 0), (110, 120, 20, 0)]
        assert (queue.first_left, queue.memory) == (7, 40)

    def test_what_is_taken_stays_charged_until_it_is_released(self) -> None:
        queue = queue_of((10, 20), (8, 30))
        assert (queue.take(4), queue.first_left) == (4, 6)
        queue.release()
        assert queue.memory == 50
        assert (queue.take(5), queue.first_left) == (5, 1)
        queue.release()
        assert (queue.take(7), queue.first_left, queue.memory) == (1, 0, 50)
        queue.release()
        assert (queue.first_left, queue.memory) == (8, 30)
        assert queue.take(8) == 8
        queue.release()
        assert (queue.first_left, queue.memory, content(queue)) == (0, 0, [])

    @pytest.mark.parametrize(
        ("count", "left", "memory"),
        [(9, 1, 60), (10, 10, 40), (11, 9, 40), (20, 5, 20), (24, 1, 20), (25, 0, 0)],
    )
    def test_reading_frees_what_has_been_read_to_the_end(
        self, count: int, left: int, memory: int
    ) -> None:
        queue = queue_of((10, 20), (10, 20), (5, 20))
        queue.consume(count)
        assert (queue.first_left, queue.memory) == (left, memory)

    def test_runs_between_the_first_and_the_last_are_read_in_turn(self) -> None:
        queue = queue_of((1, 1), (2, 2), (3, 3), (3, 3), (4, 4))
        seen = []
        while queue.memory:
            seen.append((queue.first_left, queue.memory))
            queue.consume(queue.first_left)
        assert seen == [(1, 13), (2, 12), (3, 10), (3, 7), (4, 4)]


class TestCoalescing:
    """`skb_try_coalesce`: a small segment goes into the room behind the last one."""

    def test_while_there_is_room(self) -> None:
        queue = queue_of((10, 20), room=5)
        assert [queue.coalesce(length) for length in (6, 3, 3, 2, 1)] == [0, 1, 0, 1, 0]
        assert (content(queue), queue.first_left, queue.memory) == ([(15, 20)], 15, 20)

    def test_only_the_last_one_grows(self) -> None:
        queue = queue_of((10, 20), (10, 20), room=5)
        assert queue.coalesce(5)
        assert content(queue) == [(10, 20), (15, 20)]
        queue = queue_of((10, 20), (10, 20), (10, 20), (8, 20), (8, 20), (8, 20), room=5)
        assert queue.coalesce(4)
        assert content(queue) == [(10, 20)] * 3 + [(8, 20)] * 2 + [(12, 20)]
        assert queue.coalesce(1)
        assert content(queue) == [(10, 20)] * 3 + [(8, 20)] * 2 + [(13, 20)]
        queue.append(13, 20, 5)
        assert queue.coalesce(5)
        assert content(queue) == [(10, 20)] * 3 + [(8, 20)] * 2 + [(13, 20), (18, 20)]
        lengths = []
        while queue.memory:
            lengths.append(queue.first_left)
            queue.consume(queue.first_left)
        assert lengths == [10, 10, 10, 8, 8, 13, 18]

    def test_each_segment_has_room_of_its_own(self) -> None:
        queue = queue_of((10, 20), room=5)
        queue.append(10, 20, 2)
        assert not queue.coalesce(3)
        assert queue.coalesce(2)

    def test_a_first_one_that_is_being_read_grows(self) -> None:
        queue = queue_of((10, 20), room=5)
        queue.consume(9)
        assert queue.coalesce(5)
        assert (queue.first_left, queue.memory) == (6, 20)
        assert queue.segments(9) == [(0, 15, 20, 0)]

    def test_nothing_goes_behind_what_has_been_read(self) -> None:
        queue = queue_of((10, 20), room=5)
        queue.consume(10)
        assert not queue.coalesce(1)


class TestCollapse:
    """`tcp_collapse`: all segments are copied together."""

    @pytest.mark.parametrize(
        ("segments", "packed"),
        [
            # 300 bytes in segments of 100
            ([(50, 70)] * 6, [(100, 90)] * 3),
            ([(50, 70)] * 5, [(100, 90)] * 2 + [(50, 90)]),
            ([(50, 70), (1, 70), (1, 70), (48, 70), (2, 70)], [(100, 90), (2, 90)]),
            ([(50, 70), (50, 70), (1, 70)], [(100, 90), (1, 90)]),
            ([(40, 70)] * 2, [(80, 90)]),
            ([(40, 70), (30, 70)], [(70, 90)]),
            ([(40, 70), (60, 70)], [(100, 90)]),
            ([(1, 91)], [(1, 90)]),
            ([(100, 91)], [(100, 90)]),
        ],
    )
    def test_into_full_ones(
        self, segments: list[tuple[int, int]], packed: list[tuple[int, int]]
    ) -> None:
        queue = queue_of(*segments, room=7)
        payload = sum(length for length, _ in segments)
        assert queue.collapse(100, 90) == payload
        assert content(queue) == packed
        assert (queue.memory, queue.first_left) == (90 * len(packed), packed[0][0])
        # their buffers are full
        assert not queue.coalesce(1)
        queue.consume(payload)
        assert (queue.memory, queue.first_left) == (0, 0)
        queue.append(5, 6, 0)
        queue.append(7, 8, 0)
        assert content(queue) == [(5, 6), (7, 8)]

    def test_later_ones_follow(self) -> None:
        queue = queue_of((30, 70), (40, 70), (50, 70))
        assert queue.collapse(100, 90) == 120
        queue.append(20, 90, 0)
        queue.append(7, 8, 0)
        assert content(queue) == [(100, 90), (20, 90), (20, 90), (7, 8)]

    @pytest.mark.parametrize("memory", [44, 45])
    def test_not_where_it_saves_nothing(self, memory: int) -> None:
        queue = queue_of((50, memory), (50, memory))
        assert queue.collapse(100, 90) == 0
        assert content(queue) == [(50, memory)] * 2

    def test_what_has_been_read_is_left_out(self) -> None:
        queue = queue_of((60, 200), (60, 200))
        queue.consume(30)
        assert queue.collapse(100, 90) == 90
        assert queue.segments(30) == [(30, 120, 90, 0)]

    def test_nothing_is_copied_where_nothing_is_unread(self) -> None:
        queue = queue_of((10, 200), (20, 200))
        queue.consume(30)
        assert queue.collapse(8, 90) == 0
        assert (queue.memory, content(queue)) == (0, [])
        # being read to its end, not released
        queue = queue_of((10, 200))
        queue.take(10)
        assert queue.collapse(100, 90) == 0
        assert queue.memory == 200


class TestReplace:
    def test_other_segments_take_their_place(self) -> None:
        queue = queue_of((60, 200), (60, 201), (60, 202), (60, 200))
        queue.consume(70)
        queue.replace([(60, 120, 90, 0), (120, 180, 90, 0), (180, 240, 80, 33)], 70)
        assert (queue.memory, queue.first_left) == (260, 50)
        assert queue.segments(70) == [(60, 120, 90, 0), (120, 180, 90, 0), (180, 240, 80, 0)]
        assert not queue.coalesce(34)
        assert queue.coalesce(33)
        assert queue.memory == 260


@settings(max_examples=examples(200))
@given(
    st.lists(
        st.tuples(st.sampled_from("abcrt"), st.sampled_from([1, 2, 5]), st.integers(0, 9)),
        max_size=60,
    )
)
def test_runs_behave_as_a_list_of_segments(steps: list[tuple[str, int, int]]) -> None:
    """Appended, put behind the last, copied together, read: against a plain list."""
    queue = ReceiveQueue()
    plain: list[list[int]] = []
    start = room = 0
    for step, length, count in steps:
        if step == "a":
            queue.append(length, 10 + count // 5, count)
            plain.append([length, 10 + count // 5])
            room = count
        elif step == "b":
            fits = bool(plain) and length <= room
            assert queue.coalesce(length) == fits
            if fits:
                plain[-1][0] += length
                room -= length
        elif step == "c":
            payload = sum(part[0] for part in plain) - start
            needed = -(-payload // 8)
            saves = 0 < 12 * needed < sum(part[1] for part in plain)
            assert queue.collapse(8, 12) == (payload if saves else 0)
            if saves:
                plain = [[min(8, payload - at), 12] for at in range(0, payload, 8)]
                start = room = 0
        else:
            left = min(count, sum(part[0] for part in plain) - start)
            queue.consume(left)
            start += left
            while plain and start >= plain[0][0]:
                start -= plain.pop(0)[0]
        assert content(queue) == [tuple(part) for part in plain]
        assert queue.memory == sum(part[1] for part in plain)
        assert queue.first_left == (plain[0][0] - start if plain else 0)
