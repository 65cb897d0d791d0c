"""Write-behind of a node call by call, and which files it knows."""

from typing import Any

import pytest

from simnet.storage.scale.files import Handle
from tests.storage.scale.parts import BLOCK, CLEAN, PIECE, Rig, User


class TestWriting:
    def full(self, rig: Rig, handle: Handle, block: int) -> Any:
        buffer = rig.client.write(handle, block)
        rig.client.written(handle, buffer, 0, BLOCK, behind=True)
        return buffer

    def test_a_full_block_is_written_behind(self) -> None:
        rig = Rig()
        handle = rig.open()
        buffer = rig.client.write(handle, 0)
        assert (buffer.pins, buffer.state) == (1, 2)
        assert rig.client.pool.dirty_bytes == BLOCK
        rig.client.written(handle, buffer, 0, BLOCK // 2, behind=False)
        assert rig.asked() == []
        assert rig.client.write(handle, 0) is buffer
        assert rig.client.pool.dirty_bytes == BLOCK
        rig.client.written(handle, buffer, BLOCK // 2, BLOCK, behind=True)
        assert rig.asked() == [("write", 1, 0, 0, BLOCK)]
        assert (rig.client.background, rig.client.background_bytes) == (1, BLOCK)
        rig.answer(0, write=True)
        assert rig.counts("written_bytes", "read_bytes", "requests") == [BLOCK, 0, 1]
        assert (rig.client.background, rig.client.background_bytes) == (0, 0)
        assert (rig.client.pool.dirty_bytes, buffer.pins, buffer.state) == (0, 0, CLEAN)

    @pytest.mark.parametrize(
        ("first", "last", "offset", "size"),
        [
            (0, 1, 0, PIECE),
            (PIECE - 1, PIECE, 0, PIECE),
            (PIECE, PIECE + 1, PIECE, PIECE),
            (PIECE - 1, PIECE + 1, 0, 2 * PIECE),
            (3 * PIECE + 5, BLOCK, 3 * PIECE, BLOCK - 3 * PIECE),
        ],
    )
    def test_whole_sub_blocks_of_what_is_dirty_are_written(
        self, first: int, last: int, offset: int, size: int
    ) -> None:
        rig = Rig()
        handle = rig.open()
        buffer = rig.client.write(handle, 2)
        rig.client.written(handle, buffer, first, last, behind=True)
        assert rig.asked() == [("write", 1, 2, offset, size)]
        rig.answer(2, write=True)
        # written again, the range is that of the second time only
        buffer = rig.client.write(handle, 2)
        rig.client.written(handle, buffer, 5 * PIECE, 6 * PIECE, behind=True)
        assert rig.asked() == [("write", 1, 2, 5 * PIECE, PIECE)]

    def test_one_that_is_written_to_while_it_is_flushed_is_flushed_again(self) -> None:
        rig = Rig()
        handle = rig.open()
        buffer = self.full(rig, handle, 0)
        assert rig.client.write(handle, 0) is buffer
        rig.client.written(handle, buffer, 0, PIECE, behind=True)
        assert len(rig.asked()) == 1
        rig.answer(0, write=True)
        assert [ask[0] for ask in rig.asked()] == ["write"]
        assert rig.client.pool.dirty_bytes == BLOCK
        rig.answer(0, write=True)
        assert rig.client.pool.dirty_bytes == 0
        assert rig.counts("written_bytes", "requests") == [2 * BLOCK, 2]

    def test_a_writer_without_a_share_is_told_when_there_is_one(self) -> None:
        rig = Rig(blocks=4, prefetch_percent=50)
        handle = rig.open()
        self.full(rig, handle, 0)
        self.full(rig, handle, 1)
        assert rig.client.write(handle, 2) is None
        assert rig.user.told == []
        rig.answer(0, write=True)
        assert rig.user.told == [handle]
        assert rig.client.write(handle, 2) is not None

    def test_a_block_that_is_being_read_is_waited_for(self) -> None:
        rig = Rig()
        user = User(rig.sim, "writer")
        handle, writer = rig.open(), rig.open(user=user)
        rig.client.read(handle, 0)
        assert rig.client.write(writer, 0) is None
        rig.answer(0)
        assert (rig.user.told, user.told) == ([handle], [writer])
        assert rig.client.write(writer, 0) is not None

    def test_what_is_left_is_written_when_the_file_is_closed(self) -> None:
        rig = Rig()
        handle = rig.open()
        for block in (2, 1):
            buffer = rig.client.write(handle, block)
            rig.client.written(handle, buffer, 0, PIECE, behind=False)
        assert rig.asked() == []
        assert handle.file.opens == 1
        rig.client.close(handle)
        assert rig.asked() == [("write", 1, block, 0, PIECE) for block in (1, 2)]
        assert handle.file.opens == 0

    def test_what_is_on_its_way_is_told_when_all_is_clean(self) -> None:
        rig = Rig()
        handle = rig.open()
        told: list[str] = []
        rig.client.when_clean(9, lambda: told.append("nobody knows it"))
        rig.client.when_clean(1, lambda: told.append("nothing dirty"))
        assert told == ["nobody knows it", "nothing dirty"]
        rig.read(handle, 5)
        rig.client.when_clean(1, lambda: told.append("one that was read"))
        assert told.pop() == "one that was read"
        self.full(rig, handle, 0)
        self.full(rig, handle, 1)
        rig.client.when_clean(1, lambda: told.append("all clean"))
        rig.answer(0, write=True)
        assert len(told) == 2
        rig.answer(1, write=True)
        assert told[2:] == ["all clean"]
        self.full(rig, handle, 0)
        rig.answer(0, write=True)
        assert len(told) == 3

    def test_a_revoked_token_takes_clean_blocks_and_has_dirty_ones_written(self) -> None:
        rig = Rig(prefetch_threads=5)
        handle = rig.open()
        handle.not_in_sequence()
        for block in (5, 9):
            rig.read(handle, block)
        dirty = rig.client.write(handle, 2)
        rig.client.written(handle, dirty, 0, PIECE, behind=False)
        held = rig.client.read(handle, 9)
        rig.asked()
        rig.client.give_up(1)
        # what somebody uses stays
        assert sorted(handle.file.buffers) == [2, 9]
        assert rig.asked() == [("write", 1, 2, 0, PIECE)]
        rig.client.release(handle, held)
        rig.client.give_up(77)

    def test_what_was_not_on_disk_of_a_deleted_file_is_dropped(self) -> None:
        rig = Rig(prefetch_threads=1)
        handle = rig.open()
        self.full(rig, handle, 0)
        buffer = rig.client.write(handle, 1)
        rig.client.written(handle, buffer, PIECE, 3 * PIECE, behind=False)
        buffer = self.full(rig, handle, 2)
        rig.client.delete(1)
        assert not rig.client.knows(1)
        # 0 is on its way, 1 was in nobody's queue
        assert rig.counts("dropped_bytes") == [2 * PIECE]
        rig.answer(0, write=True)
        # its turn has come: nothing is written
        assert rig.counts("dropped_bytes", "written_bytes") == [2 * PIECE + BLOCK, BLOCK]
        assert rig.client.pool.used_bytes == rig.client.pool.dirty_bytes == 0
        assert rig.client.waiting_for() is None
        rig.client.delete(1)


class TestFiles:
    def test_the_least_recently_opened_that_nobody_uses_is_forgotten(self) -> None:
        rig = Rig(max_files_to_cache=3)
        handles = {number: rig.open(file=number) for number in (1, 2, 3)}
        for number in (2, 3, 1):
            rig.client.close(handles[number])
        rig.client.close(rig.open(file=1))
        assert [rig.client.knows(number) for number in (1, 2, 3)] == [True] * 3
        rig.client.close(rig.open(file=4))
        # 2 was opened before 3, and 1 once more after that
        assert [rig.client.knows(number) for number in (1, 2, 3, 4)] == [True, False, True, True]

    def test_one_that_is_open_or_dirty_or_in_use_is_kept(self) -> None:
        rig = Rig(max_files_to_cache=3, prefetch_threads=0)
        rig.open(file=1)
        dirty, used = rig.open(file=2), rig.open(file=3)
        buffer = rig.client.write(dirty, 0)
        rig.client.written(dirty, buffer, 0, BLOCK, behind=True)
        rig.client.close(dirty)
        rig.read(used, 0)
        rig.client.read(used, 0)
        rig.client.close(used)
        rig.open(file=4)
        assert all(rig.client.knows(number) for number in (1, 2, 3, 4))

    def test_blocks_go_with_their_file(self) -> None:
        rig = Rig(max_files_to_cache=1, prefetch_threads=0)
        handle = rig.open(file=1)
        rig.read(handle, 0)
        rig.client.close(handle)
        assert rig.client.pool.used_bytes == BLOCK
        rig.open(file=2)
        assert rig.client.pool.used_bytes == 0

    def test_a_file_is_as_large_as_anybody_opened_it(self) -> None:
        rig = Rig()
        first = rig.client.open(1, 2 * BLOCK, rig.user)
        assert rig.client.open(1, 5 * BLOCK + 1, rig.user).last_block == 6
        assert first.file.size_bytes == 5 * BLOCK + 1
        third = rig.client.open(1, BLOCK, rig.user)
        assert (third.last_block, third.file.size_bytes) == (1, 5 * BLOCK + 1)
        assert first.file.opens == 3

    def test_a_handle_begins_at_the_start(self) -> None:
        handle = Rig().open()
        assert (handle.next_block, handle.window, handle.asked, handle.wanted) == (0, 1, 0, 0)
        assert (handle.sequential, handle.last_block) == (True, 20)

    def test_closing_gives_up_what_was_read_ahead(self) -> None:
        rig = Rig()
        handle = rig.open()
        rig.client.read(handle, 0)
        assert rig.client.pool.ahead_bytes == 2 * BLOCK
        rig.client.close(handle)
        assert rig.client.pool.ahead_bytes == 0


class Eager(User):
    """Asks for its block again when it is told to."""

    def __init__(self, rig: Rig, name: str, file: int) -> None:
        super().__init__(rig.sim, name)
        self.client = rig.client
        self.got: list[int] = []
        self.handle = rig.open(file=file, user=self)

    def write(self) -> None:
        if self.client.write(self.handle, 0) is not None:
            self.got.append(self.handle.file.number)

    def block_ready(self, handle: Handle) -> None:
        super().block_ready(handle)
        self.write()


class Reader(User):
    """Takes its first block when it is told to."""

    def __init__(self, rig: Rig, name: str, file: int) -> None:
        super().__init__(rig.sim, name)
        self.client = rig.client
        self.held: list[Any] = []
        self.handle = rig.open(file=file, user=self)

    def block_ready(self, handle: Handle) -> None:
        self.held.append(self.client.read(handle, 0))


class TestWaiting:
    def test_the_first_that_waits_for_a_share_is_the_first_to_get_one(self) -> None:
        rig = Rig(blocks=4)
        handle = rig.open()
        for block in (0, 1):
            rig.client.written(handle, rig.client.write(handle, block), 0, BLOCK, behind=True)
        users = [Eager(rig, f"writer{n}", n) for n in (5, 6, 7)]
        for user in users:
            user.write()
        rig.answer(0, write=True)
        assert [user.got for user in users] == [[5], [], []]
        rig.answer(1, write=True)
        assert [user.got for user in users] == [[5], [6], []]

    def test_where_nothing_is_on_its_way_blocks_that_are_not_full_are_written(self) -> None:
        rig = Rig(blocks=4)
        handle = rig.open()
        buffers = [rig.client.write(handle, block) for block in (1, 0)]
        rig.client.written(handle, buffers[0], 0, PIECE, behind=False)
        Eager(rig, "writer", 9).write()
        assert rig.asked() == []
        rig.client.written(handle, buffers[1], 0, PIECE, behind=False)
        # in the order of their blocks
        assert rig.asked() == [("write", 1, 0, 0, PIECE), ("write", 1, 1, 0, PIECE)]

    def test_and_what_was_read_ahead_gives_its_share(self) -> None:
        rig = Rig(blocks=4)
        reader = rig.open()
        rig.client.read(reader, 0)
        for block in (0, 1, 2):
            rig.answer(block)
        assert rig.client.pool.ahead_bytes == 2 * BLOCK
        writer = Eager(rig, "writer", 9)
        writer.write()
        assert writer.got == []
        rig.client.release(reader, rig.client.read(reader, 0))
        assert writer.got == [9]
        assert rig.client.pool.ahead_bytes == 0

    def test_while_a_request_is_on_its_way_nothing_is_given_up(self) -> None:
        rig = Rig(blocks=4)
        handle, reader = rig.open(), rig.open(file=2)
        buffers = [rig.client.write(handle, block) for block in (0, 1)]
        rig.client.read(reader, 7)
        rig.asked()
        Eager(rig, "writer", 9).write()
        for buffer in buffers:
            rig.client.written(handle, buffer, 0, PIECE, behind=False)
        assert rig.asked() == []
        rig.answer(7, file=2)
        assert [ask[0] for ask in rig.asked()] == ["write", "write"]

    def test_memory_for_reading_ahead_is_waited_for(self) -> None:
        rig = Rig(blocks=2, prefetch_percent=100)
        user = Reader(rig, "reader", 1)
        rig.client.read(user.handle, 0)
        assert rig.blocks() == [0, 1]
        rig.answer(0)
        assert rig.blocks() == []
        rig.client.release(user.handle, user.held.pop())
        assert rig.blocks() == [2]
        assert sorted(user.handle.file.buffers) == [1, 2]

    def test_what_was_read_ahead_for_nobody_can_be_stolen(self) -> None:
        rig = Rig(blocks=3)
        handle = rig.open()
        rig.client.read(handle, 0)
        for block in (1, 2):
            rig.answer(block)
        other = rig.open(file=2)
        other.not_in_sequence()
        rig.asked()
        assert rig.client.read(other, 5) is None
        assert rig.asked() == [("read", 2, 5, 0, BLOCK)]
        assert sorted(handle.file.buffers) == [0, 2]

    def test_a_writer_of_a_block_that_was_read_ahead_waits_for_it(self) -> None:
        rig = Rig()
        handle = rig.open()
        rig.client.read(handle, 0)
        writer = rig.open(user=User(rig.sim, "writer"))
        assert rig.client.write(writer, 1) is None
        rig.answer(1)
        assert rig.client.write(writer, 1) is not None

    def test_a_buffer_that_was_queued_twice_is_written_once(self) -> None:
        rig = Rig(prefetch_threads=1)
        handle = rig.open()
        for block in (0, 1, 1):
            buffer = rig.client.write(handle, block)
            rig.client.written(handle, buffer, 0, BLOCK, behind=True)
        rig.answer(0, write=True)
        rig.answer(1, write=True)
        assert rig.counts("requests", "written_bytes") == [2, 2 * BLOCK]
        assert [b.pins for b in handle.file.buffers.values()] == [0, 0]
        assert rig.client.waiting_for() is None
