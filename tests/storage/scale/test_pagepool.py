"""Memory of a node for blocks of files: what a block takes, shares, and who is stolen."""

import pytest

from simnet.errors import SimulationError
from simnet.storage.scale.pagepool import Buffer, CachedFile, Pagepool

BLOCK = 32_000
PIECE = 1000
READING, CLEAN, DIRTY, FLUSHING = range(4)


def pool(blocks: int = 4, percent: int = 50) -> Pagepool:
    return Pagepool(blocks * BLOCK, BLOCK, percent)


def file(number: int = 1, size: int = 100 * BLOCK) -> CachedFile:
    return CachedFile(number, size)


def clean(memory: Pagepool, of: CachedFile, *blocks: int) -> list[Buffer]:
    """Blocks that have been read and that nobody uses."""
    buffers = []
    for block in blocks:
        buffer = memory.take(of, block)
        buffer.state = CLEAN
        memory.unpin(buffer, keep=True)
        buffers.append(buffer)
    return buffers


@pytest.mark.parametrize(
    ("size", "block", "memory"),
    [
        (BLOCK, 0, BLOCK),
        (BLOCK - 1, 0, BLOCK),
        (BLOCK - PIECE, 0, BLOCK - PIECE),
        (BLOCK - PIECE + 1, 0, BLOCK),
        (2 * BLOCK + 1, 1, BLOCK),
        (2 * BLOCK + 1, 2, PIECE),
        (2 * BLOCK + PIECE, 2, PIECE),
        (2 * BLOCK + PIECE + 1, 2, 2 * PIECE),
        (2 * BLOCK, 2, PIECE),
        (BLOCK, 5, PIECE),
    ],
)
def test_the_end_of_a_file_takes_sub_blocks(size: int, block: int, memory: int) -> None:
    assert pool().memory_for(file(1, size), block) == memory


@pytest.mark.parametrize(
    ("blocks", "percent", "share"),
    [(10, 50, 5 * BLOCK), (10, 20, 2 * BLOCK), (10, 19, 2 * BLOCK), (10, 0, 2 * BLOCK)],
)
def test_the_share_is_a_part_of_memory_and_at_least_two_blocks(
    blocks: int, percent: int, share: int
) -> None:
    assert pool(blocks, percent).share_bytes == share


def test_a_pool_begins_empty() -> None:
    memory, some = pool(), file()
    assert (memory.used_bytes, memory.ahead_bytes, memory.dirty_bytes) == (0, 0, 0)
    assert (memory.most_share_bytes, memory.stolen) == (0, 0)
    assert memory.find(some, 0) is None
    buffer = memory.take(some, 3)
    assert (buffer.state, buffer.pins, buffer.block, buffer.memory_bytes) == (READING, 1, 3, BLOCK)
    assert [buffer.ahead, buffer.waited, buffer.again] == [False] * 3
    assert (buffer.first_bytes, buffer.last_bytes, buffer.waiting) == (0, 0, None)
    assert memory.find(some, 3) is buffer
    assert memory.used_bytes == BLOCK


def test_the_one_used_longest_ago_is_stolen_and_no_more_than_needed() -> None:
    memory, some = pool(4), file()
    first, second, third, fourth = clean(memory, some, 0, 1, 2, 3)
    assert memory.stolen == 0
    # using one makes it the newest
    memory.pin(first)
    memory.unpin(first, keep=True)
    memory.take(some, 4)
    assert memory.stolen == 1
    assert sorted(some.buffers) == [0, 2, 3, 4]
    memory.pin(third)
    memory.take(some, 5)
    # the third is in use
    assert sorted(some.buffers) == [0, 2, 4, 5]
    memory.take(some, 6)
    assert sorted(some.buffers) == [2, 4, 5, 6]
    assert memory.take(some, 7) is None
    assert memory.used_bytes == 4 * BLOCK
    assert memory.stolen == 3
    memory.unpin(third, keep=True)
    assert memory.take(some, 7) is not None
    assert (second.listed, fourth.listed) == (False, False)


def test_a_buffer_in_the_middle_can_be_taken_out_of_the_list() -> None:
    memory, some = pool(4), file()
    buffers = clean(memory, some, 0, 1, 2)
    memory.pin(buffers[1])
    memory.unpin(buffers[1], keep=True)
    memory.pin(buffers[2])
    for block in (3, 4, 5):
        memory.take(some, block)
    # the first and the one that was used last went; the other is in use
    assert sorted(some.buffers) == [2, 3, 4, 5]


def test_small_buffers_are_stolen_until_there_is_room() -> None:
    memory = pool(1)
    small = [file(n, PIECE) for n in range(32)]
    for each in small:
        clean(memory, each, 0)
    assert memory.used_bytes == BLOCK
    assert memory.take(file(99, 3 * PIECE), 0) is not None
    assert memory.stolen == 3
    assert [bool(each.buffers) for each in small[:4]] == [False, False, False, True]


def test_what_is_ahead_and_what_is_dirty_have_one_share() -> None:
    memory, some = pool(8, 50), file()
    ahead, dirty = memory.take(some, 0), memory.take(some, 1)
    memory.mark_ahead(ahead)
    memory.mark_dirty(dirty)
    assert (memory.ahead_bytes, memory.dirty_bytes) == (BLOCK, BLOCK)
    # written once more it counts once
    memory.mark_dirty(dirty)
    assert memory.dirty_bytes == BLOCK
    third = memory.take(some, 2)
    memory.mark_ahead(third)
    assert memory.has_share(some, 3)
    memory.mark_ahead(memory.take(some, 3))
    assert not memory.has_share(some, 4)
    assert not memory.has_share(file(2, PIECE), 0)
    assert memory.most_share_bytes == 4 * BLOCK
    memory.read(third)
    memory.read(third)
    assert memory.ahead_bytes == 2 * BLOCK
    assert memory.has_share(some, 4)
    assert memory.most_share_bytes == 4 * BLOCK
    # what was prefetched and is written to is dirty, no longer ahead
    memory.mark_dirty(ahead)
    assert (memory.ahead_bytes, memory.dirty_bytes) == (BLOCK, 2 * BLOCK)


def test_a_write_while_a_buffer_is_flushed_is_noted() -> None:
    memory, some = pool(), file()
    buffer = memory.take(some, 0)
    memory.mark_dirty(buffer)
    buffer.state = FLUSHING
    memory.mark_dirty(buffer)
    assert (buffer.state, buffer.again, memory.dirty_bytes) == (FLUSHING, True, BLOCK)
    buffer.first_bytes, buffer.last_bytes = 5, 7
    memory.mark_clean(buffer)
    assert (buffer.state, memory.dirty_bytes) == (CLEAN, 0)
    assert (buffer.first_bytes, buffer.last_bytes) == (0, 0)


def test_a_buffer_that_is_let_go_is_kept_or_forgotten() -> None:
    memory, some = pool(), file()
    buffers = [memory.take(some, block) for block in range(3)]
    for buffer in buffers:
        buffer.state = CLEAN
    memory.pin(buffers[0])
    memory.unpin(buffers[0], keep=False)
    # another user has it
    assert some.buffers[0] is buffers[0]
    memory.unpin(buffers[0], keep=False)
    memory.unpin(buffers[1], keep=True)
    assert sorted(some.buffers) == [1, 2]
    assert memory.used_bytes == 2 * BLOCK
    buffers[2].state = DIRTY
    memory.unpin(buffers[2], keep=False)
    # a dirty one stays
    assert sorted(some.buffers) == [1, 2]
    assert not buffers[2].listed
    with pytest.raises(SimulationError, match="block 1 of file 1 was let go twice"):
        memory.unpin(buffers[1], keep=True)


def test_of_a_file_that_is_gone_nothing_is_kept() -> None:
    memory, some = pool(), file()
    buffer = memory.take(some, 0)
    buffer.state = CLEAN
    some.gone = True
    memory.unpin(buffer, keep=True)
    assert (some.buffers, memory.used_bytes) == ({}, 0)


def test_what_is_forgotten_counts_nowhere() -> None:
    memory, some = pool(), file()
    (first,) = clean(memory, some, 0)
    memory.mark_ahead(first)
    memory.drop(first)
    assert (memory.used_bytes, memory.ahead_bytes) == (0, 0)
    dirty = memory.take(some, 1)
    memory.mark_dirty(dirty)
    memory.drop_dirty(dirty)
    assert (memory.used_bytes, memory.dirty_bytes, some.buffers) == (0, 0, {})
    # and is on no list: memory can be filled anew
    assert [memory.take(some, block) is not None for block in range(5)] == [True] * 4 + [False]
