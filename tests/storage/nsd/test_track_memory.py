"""Tracks in a server's memory, against a plain ordered dictionary."""

from collections import OrderedDict

from hypothesis import given
from hypothesis import strategies as st

from simnet.storage.nsd.track_memory import TrackMemory


def test_the_one_used_longest_ago_goes_first() -> None:
    memory = TrackMemory()
    for key in (5, 6, 7):
        memory.put(key, 1 << key)
    memory.put(5, memory.held(5))
    assert [memory.held(key) for key in (4, 5, 6)] == [0, 1 << 5, 1 << 6]
    assert [memory.drop_oldest() for _ in range(3)] == [1 << 6, 1 << 7, 1 << 5]
    assert memory.count == 0
    assert memory.held(5) == 0


def test_one_in_the_middle_that_is_used_again_is_the_last() -> None:
    memory = TrackMemory()
    for key in (5, 6, 7, 8):
        memory.put(key, 1 << key)
    # between two others, the one before the last, and the last itself
    for key, order in ((6, (5, 7, 8, 6)), (8, (5, 7, 6, 8)), (8, (5, 7, 6, 8)), (7, (5, 6, 8, 7))):
        memory.put(key, 1 << key)
        assert memory.count == 4
        dropped = [memory.drop_oldest() for _ in range(4)]
        assert dropped == [1 << each for each in order]
        for each in order:
            memory.put(each, 1 << each)


def test_there_is_room_for_any_number_of_tracks() -> None:
    memory = TrackMemory()
    for key in range(5000):
        memory.put(key << 24, key + 1)
    assert memory.count == 5000
    assert all(memory.held(key << 24) == key + 1 for key in range(5000))
    assert [memory.drop_oldest() for _ in range(5000)] == list(range(1, 5001))


@given(st.lists(st.tuples(st.integers(0, 900), st.integers(0, 255)), max_size=2000), st.data())
def test_as_an_ordered_dictionary(steps: list[tuple[int, int]], data: st.DataObject) -> None:
    memory, expected = TrackMemory(), OrderedDict[int, int]()
    most = data.draw(st.integers(1, 600))
    for key, strips in steps:
        held = memory.held(key)
        assert held == expected.pop(key, 0)
        expected[key] = held | strips
        memory.put(key, held | strips)
        if len(expected) > most:
            assert memory.drop_oldest() == expected.popitem(last=False)[1]
        assert memory.count == len(expected)
