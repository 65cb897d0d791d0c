"""Reads of a node call by call: what is asked of servers, when, and what is counted."""

import pytest

from tests.storage.scale.parts import BLOCK, CLEAN, MS, PIECE, Rig, S, User


def test_counters_begin_at_nothing() -> None:
    rig = Rig()
    assert set(rig.client.counters().values()) == {0}
    assert list(rig.client.counters()) == [
        *("hits", "late", "misses", "prefetched", "requests"),
        *("read_bytes", "written_bytes", "dropped_bytes"),
    ]
    assert rig.client.waiting_for() is None
    assert rig.client.bins == []
    assert rig.client.latency_ps == 20 * MS


class TestReading:
    def test_a_miss_asks_for_the_block_and_looks_ahead(self) -> None:
        rig = Rig()
        handle = rig.open()
        assert rig.client.read(handle, 0) is None
        # the window is two blocks after a wait
        assert rig.asked() == [("read", 1, block, 0, BLOCK) for block in (0, 1, 2)]
        assert {request.client for request in rig.servers.requests} == {3}
        assert rig.counts("hits", "late", "misses", "prefetched", "requests") == [0, 0, 1, 2, 3]
        assert rig.client.waiting_for() == "3 requests"
        assert (rig.client.foreground, rig.client.background) == (1, 2)
        assert rig.client.background_bytes == rig.client.pool.ahead_bytes == 2 * BLOCK
        rig.answer(0)
        assert rig.user.told == [handle]
        assert (rig.client.foreground, rig.client.background) == (0, 2)
        buffer = rig.client.read(handle, 0)
        assert buffer is not None
        # it was counted when it was asked for
        assert rig.counts("hits", "late", "misses") == [0, 0, 1]
        assert (buffer.pins, buffer.block, buffer.state) == (1, 0, CLEAN)
        rig.client.release(handle, buffer)
        assert buffer.pins == 0

    def test_one_that_is_on_its_way_is_late_and_doubles_the_window(self) -> None:
        rig = Rig(blocks=40)
        handle = rig.open()
        rig.client.read(handle, 0)
        rig.answer(0)
        rig.client.release(handle, rig.client.read(handle, 0))
        rig.asked()
        assert rig.client.read(handle, 1) is None
        assert rig.counts("hits", "late", "misses", "prefetched") == [0, 1, 1, 5]
        # four from block 2 on
        assert rig.blocks() == [3, 4, 5]
        assert rig.user.told == [handle]
        rig.answer(1)
        assert rig.user.told == [handle, handle]
        rig.client.release(handle, rig.client.read(handle, 1))
        # one that is there leaves the window as it is
        rig.answer(2)
        rig.client.release(handle, rig.client.read(handle, 2))
        assert rig.counts("hits", "late", "misses") == [1, 1, 1]
        assert rig.blocks() == [6]
        assert rig.client.pool.ahead_bytes == 4 * BLOCK

    def test_two_that_wait_for_one_block_are_both_told(self) -> None:
        rig = Rig()
        other = User(rig.sim, "other")
        handles = [rig.open(), rig.open(user=other)]
        for handle in handles:
            assert rig.client.read(handle, 0) is None
        assert rig.counts("late", "misses") == [1, 1]
        assert [block for block in rig.blocks() if block == 0] == [0]
        rig.answer(0)
        assert (rig.user.told, other.told) == ([handles[0]], [handles[1]])

    def test_nothing_is_read_ahead_beyond_the_end(self) -> None:
        rig = Rig()
        handle = rig.client.open(1, 2 * BLOCK + 1, rig.user)
        rig.client.read(handle, 0)
        assert rig.asked() == [
            *(("read", 1, 0, 0, BLOCK), ("read", 1, 1, 0, BLOCK), ("read", 1, 2, 0, PIECE))
        ]

    def test_who_jumps_begins_anew_and_gives_up_what_was_ahead(self) -> None:
        rig = Rig()
        handle = rig.open()
        rig.client.read(handle, 0)
        rig.answer(0)
        rig.client.release(handle, rig.client.read(handle, 0))
        rig.asked()
        rig.client.read(handle, 10)
        assert not handle.sequential
        assert (handle.window, handle.next_block, handle.asked) == (2, 11, 11)
        # 1 and 2 are ahead of nobody
        assert rig.client.pool.ahead_bytes == 0
        assert rig.blocks() == [10]
        rig.answer(10)
        rig.client.release(handle, rig.client.read(handle, 10))
        # the next one after it is in sequence
        rig.client.read(handle, 11)
        assert handle.next_block == 12
        assert rig.blocks() == [11, 12, 13, 14, 15]

    def test_who_says_so_is_in_sequence_nowhere(self) -> None:
        rig = Rig()
        handle = rig.open()
        handle.not_in_sequence()
        assert handle.next_block == -1
        rig.client.read(handle, 0)
        assert not handle.sequential
        assert rig.blocks() == [0]

    def test_large_files_are_dropped_as_they_are_read_in_sequence(self) -> None:
        rigs = [Rig(seq_discard_threshold_bytes=size) for size in (20 * BLOCK, 20 * BLOCK - 1)]
        handles = [rig.open() for rig in rigs]
        for rig, handle in zip(rigs, handles, strict=True):
            rig.read(handle, 0)
        assert [0 in handle.file.buffers for handle in handles] == [True, False]
        # not where somebody jumps
        rigs[1].read(handles[1], 15)
        assert 15 in handles[1].file.buffers

    def test_worker_threads_bound_what_is_waited_for(self) -> None:
        rig = Rig(worker_threads=2, prefetch_threads=0)
        users = [User(rig.sim, f"u{n}") for n in range(3)]
        handles = [rig.open(file=n, user=users[n]) for n in range(3)]
        for handle in handles:
            assert rig.client.read(handle, 5) is None
        assert len(rig.asked()) == 2
        assert rig.client.foreground == 2
        rig.answer(5, file=0)
        # the third asks again
        assert [len(user.told) for user in users] == [1, 0, 1]

    def test_memory_bounds_it_too(self) -> None:
        rig = Rig(blocks=2, prefetch_threads=0)
        users = [User(rig.sim, f"u{n}") for n in range(3)]
        handles = [rig.open(file=n, user=users[n]) for n in range(3)]
        for handle in handles:
            rig.client.read(handle, 5)
        assert len(rig.asked()) == 2
        rig.answer(5, file=0)
        assert len(users[2].told) == 1
        buffer = rig.client.read(handles[0], 5)
        assert rig.client.read(handles[2], 5) is None
        assert rig.asked() == []
        rig.client.release(handles[0], buffer)
        assert len(users[2].told) == 2
        assert rig.client.read(handles[2], 5) is None
        assert rig.asked() == [("read", 2, 5, 0, BLOCK)]
        assert rig.counts("misses") == [3]

    def test_a_block_can_be_touched_without_reading_it(self) -> None:
        rig = Rig(blocks=3, prefetch_threads=0)
        handle = rig.open()
        assert not rig.client.touch(handle, 0)
        rig.client.read(handle, 0)
        assert not rig.client.touch(handle, 0)
        rig.answer(0)
        rig.client.release(handle, rig.client.read(handle, 0))
        rig.read(handle, 1, 2)
        assert rig.client.touch(handle, 0)
        # it is the newest now
        rig.client.read(handle, 3)
        assert sorted(handle.file.buffers) == [0, 2, 3]

    @pytest.mark.parametrize(
        ("size", "whole"),
        [(1, PIECE), (PIECE, PIECE), (PIECE + 1, 2 * PIECE), (BLOCK, BLOCK), (2 * BLOCK, BLOCK)],
    )
    def test_a_part_of_a_block_needs_no_buffer(self, size: int, whole: int) -> None:
        rig = Rig(daemon_fs_per_byte=1000)
        handle = rig.open()
        rig.client.read_part(handle.file, 4, size, rig.user)
        assert rig.asked() == [("read", 1, 4, 0, whole)]
        assert rig.servers.requests[0].owner is rig.user
        assert rig.counts("misses", "requests", "read_bytes") == [1, 1, 0]
        rig.client.part_received(whole)
        assert rig.counts("misses", "requests", "read_bytes") == [1, 1, whole]
        assert rig.client.pool.used_bytes == 0
        assert rig.client.bins == [whole]
        rig.sim.run_until(S)
        assert rig.cpu.done_ps == whole


class TestThreads:
    def test_prefetch_threads_are_the_most_in_the_background(self) -> None:
        rig = Rig(prefetch_threads=1)
        handle = rig.open()
        rig.client.read(handle, 0)
        assert rig.blocks() == [0, 1]
        rig.answer(1)
        assert rig.blocks() == [2]

    @pytest.mark.parametrize(("rate", "ahead"), [(64, 2), (63, 1), (1, 1)])
    def test_the_rate_times_the_latency_is_the_most_that_they_carry(
        self, rate: int, ahead: int
    ) -> None:
        # 20 ms at 64 MB/s are two blocks of 640 kB; one may always be
        rig = Rig(max_mb_per_s=rate)
        rig.client.read(rig.open(), 0)
        assert rig.client.background == ahead
        assert len(rig.asked()) == 1 + ahead

    def test_the_latency_is_a_mean_of_the_last(self) -> None:
        rig = Rig()
        handle = rig.open()
        rig.client.read(handle, 0)
        for request in rig.servers.requests:
            request.submitted_ps = 0
        rig.sim.run_until(4 * MS)
        rig.answer(0)
        # an eighth of the way from 20 to 4, rounded up
        assert rig.client.latency_ps == 20 * MS + (4 * MS - 20 * MS + 8) // 8
        before = rig.client.latency_ps
        rig.sim.run_until(100 * MS)
        rig.answer(1)
        assert rig.client.latency_ps == before + (100 * MS - before + 8) // 8

    def test_the_share_bounds_what_is_ahead(self) -> None:
        rig = Rig(blocks=8, prefetch_percent=25)
        handle = rig.open()
        rig.client.read(handle, 0)
        rig.answer(0)
        rig.client.release(handle, rig.client.read(handle, 0))
        # two of eight blocks; a larger window does not help
        assert rig.client.read(handle, 1) is None
        assert rig.client.pool.ahead_bytes == 2 * BLOCK
        assert rig.blocks() == [2]
        # one more for each that is read
        rig.answer(1)
        assert rig.blocks() == []
        rig.client.release(handle, rig.client.read(handle, 1))
        assert rig.blocks() == [3]

    def test_those_who_read_ahead_take_turns(self) -> None:
        rig = Rig(blocks=40, prefetch_threads=1)
        handles = [rig.open(file=n, user=User(rig.sim, f"u{n}")) for n in (1, 2)]
        for handle in handles:
            rig.client.read(handle, 0)
        order = []
        for _ in range(4):
            request = next(each for each in rig.servers.requests if each.block)
            order.append((request.file, request.block))
            rig.answer(request.block, file=request.file)
        # the first had one before the other came, and is the first of both then
        assert order == [(1, 1), (1, 2), (2, 1), (2, 2)]

    def test_bytes_are_counted_by_the_second(self) -> None:
        rig = Rig(daemon_fs_per_byte=500)
        handle = rig.open()
        rig.client.read(handle, 0)
        rig.sim.run_until(S - 1)
        rig.answer(0)
        rig.sim.run_until(3 * S)
        rig.answer(1)
        rig.answer(2)
        assert rig.client.bins == [BLOCK, 0, 0, 2 * BLOCK]
        assert rig.counts("read_bytes") == [3 * BLOCK]
        rig.sim.run_until(4 * S)
        # half a ps a byte
        assert rig.cpu.done_ps == 3 * BLOCK // 2
