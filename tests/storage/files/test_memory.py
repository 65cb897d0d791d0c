"""Memory for pages: the oldest clean ones make room, and dirty ones stay."""

from simnet.storage.files.files import ABSENT, CLEAN, DIRTY
from simnet.storage.files.page_cache import WritebackControl
from tests.storage.files.parts import MS, Rig


def counts(rig: Rig) -> tuple[int, int, int]:
    return rig.cache.dirty, rig.cache.writeback, rig.cache.cached


def test_the_oldest_clean_pages_make_room() -> None:
    rig = Rig(memory=8)
    for first in (0, 4):
        rig.cache.add(rig.file, first, 4)
        rig.file.state[first : first + 4] = bytes([CLEAN] * 4)
    assert rig.cache.cached == 8
    rig.cache.add(rig.file, 8, 1)
    # those that came together go together
    assert rig.states()[:8] == [ABSENT] * 4 + [CLEAN] * 4
    assert rig.cache.cached == 5


def test_dirty_pages_stay_and_come_to_the_end_of_the_list() -> None:
    rig = Rig(memory=6)
    for first in (0, 3):
        rig.cache.add(rig.file, first, 3)
        rig.file.state[first : first + 3] = bytes([CLEAN, DIRTY, CLEAN])
    rig.cache.add(rig.file, 8, 1)
    assert rig.states()[:6] == [ABSENT, DIRTY, ABSENT, CLEAN, DIRTY, CLEAN]
    assert rig.cache.cached == 5
    # what was left of the first is behind the second now
    rig.file.state[1] = CLEAN
    rig.cache.add(rig.file, 9, 2)
    assert rig.states()[:6] == [ABSENT, CLEAN, ABSENT, ABSENT, DIRTY, ABSENT]
    assert rig.cache.cached == 5


def test_what_went_and_came_again_is_the_newest() -> None:
    rig = Rig(memory=8)

    def read(first: int, pages: int) -> None:
        rig.cache.add(rig.file, first, pages)
        rig.file.state[first : first + pages] = bytes([CLEAN] * pages)

    read(0, 4)
    read(4, 4)
    read(8, 1)
    assert rig.states()[:9] == [ABSENT] * 4 + [CLEAN] * 5
    read(9, 1)
    read(0, 4)
    # the second four went for them; the two single pages are older than what came again
    assert rig.states()[:10] == [CLEAN] * 4 + [ABSENT] * 4 + [CLEAN] * 2
    read(10, 4)
    assert rig.states()[:10] == [CLEAN] * 4 + [ABSENT] * 6


def test_where_nothing_is_clean_memory_is_exceeded() -> None:
    rig = Rig(memory=2)
    rig.make_dirty(range(5))
    assert counts(rig) == (5, 0, 5)
    assert rig.states()[:5] == [DIRTY] * 5
    process = rig.process()
    rig.begin(process, rig.cache.write_file(process, rig.file, WritebackControl(2)))
    rig.run(10 * MS)
    rig.make_dirty([7])
    # two of six are clean now, and go
    assert counts(rig) == (4, 0, 4)
