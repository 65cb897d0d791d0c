"""Writing dirty pages back: which, in which order, who waits, against mm/page-writeback.c."""

from typing import Any

import pytest

from simnet.storage.files.files import ABSENT, CLEAN, DIRTY, READING, REDIRTIED, WRITTEN
from simnet.storage.files.page_cache import PageCosts, WritebackControl
from tests.storage.files.parts import MS, US, Rig

SECOND = 1000 * MS


def counts(rig: Rig) -> tuple[int, int, int]:
    return rig.cache.dirty, rig.cache.writeback, rig.cache.cached


def write(rig: Rig, left: WritebackControl) -> None:
    """Have a process write pages of the file at once."""
    process = rig.process(f"flusher at {rig.sim.now}")
    rig.begin(process, rig.cache.write_file(process, rig.file, left), at=rig.sim.now)
    rig.run(rig.sim.now + 1)


class TestDirtying:
    def test_a_page_counts_once_however_often_it_is_written(self) -> None:
        rig = Rig(files=2)
        rig.make_dirty([3, 3, 5])
        assert counts(rig) == (2, 0, 2)
        assert rig.file.dirty == 2
        assert rig.states()[2:7] == [ABSENT, DIRTY, ABSENT, DIRTY, ABSENT]
        assert list(rig.system.sync_list) == [rig.file]
        rig.make_dirty([0], rig.files[1])
        assert list(rig.system.sync_list) == rig.files

    def test_a_file_is_dirty_since_its_first_page_is(self) -> None:
        rig = Rig()
        for at, page in ((5 * MS, 1), (8 * MS, 2)):
            process = rig.process(f"p{page}")
            rig.begin(process, rig.dirty(process, [page]), at=at)
        rig.run(SECOND)
        assert rig.file.dirtied_ps == 5 * MS

    def test_finding_a_page_costs_and_a_page_that_is_there_needs_none(self) -> None:
        rig = Rig(costs=PageCosts(0, 0, 7000, 0, 0))
        process = rig.process()
        rig.begin(process, rig.dirty(process, [1, 2, 1]))
        rig.run(SECOND)
        assert rig.ends == {"p": 14_000}

    def test_a_page_that_is_being_read_is_waited_for(self) -> None:
        rig = Rig()
        reader, writer = rig.process("reader"), rig.process("writer")
        rig.cache.add(rig.file, 4, 1)
        rig.file.state[4] = READING
        rig.begin(writer, rig.dirty(writer, [4]))
        rig.run(MS)
        assert rig.states()[4] == READING
        bio: Any = type("Bio", (), {"tag": (rig.file, 4, 1)})
        rig.cache.read_done(bio)
        rig.run(2 * MS)
        assert rig.states()[4] == DIRTY
        assert counts(rig) == (1, 0, 1)
        assert reader.owed_system_ps == 0

    def test_a_page_that_is_being_written_is_dirty_again_when_that_is_done(self) -> None:
        rig = Rig()
        rig.make_dirty([2])
        rig.system.sync_list.clear()
        write(rig, WritebackControl(8))
        assert rig.states()[2] == WRITTEN
        rig.make_dirty([2])
        assert rig.states()[2] == REDIRTIED
        assert counts(rig) == (1, 1, 1)
        # it is not written twice at once, and stays to be written
        left = WritebackControl(8)
        write(rig, left)
        assert left.nr_to_write == 8
        assert list(rig.system.sync_list) == [rig.file]
        rig.run(SECOND)
        assert rig.states()[2] == DIRTY
        assert counts(rig) == (1, 0, 1)
        assert rig.taken == [2]


class TestFile:
    def test_it_goes_on_where_it_was_and_begins_anew_at_the_end(self) -> None:
        rig = Rig(pages=12)
        rig.make_dirty([1, 3, 5, 9])
        left = WritebackControl(2)
        write(rig, left)
        assert left.nr_to_write == 0
        assert rig.file.writeback_index == 4
        assert counts(rig) == (2, 2, 4)
        assert rig.file.dirty == 2
        rig.make_dirty([0, 2])
        left = WritebackControl(10)
        write(rig, left)
        assert left.nr_to_write == 6
        assert rig.file.dirty == 0
        assert rig.file.writeback_index == 3
        rig.run(SECOND)
        assert rig.taken == [1, 3, 5, 9, 0, 2]
        assert counts(rig) == (0, 0, 6)
        assert rig.states() == [CLEAN if page in rig.taken else ABSENT for page in range(12)]

    def test_it_begins_with_the_first_page_and_looks_at_all_once(self) -> None:
        rig = Rig(pages=12)
        rig.make_dirty([11, 0])
        write(rig, WritebackControl(8))
        rig.run(SECOND)
        assert rig.taken == [0, 11]
        for _ in range(2):
            rig.make_dirty([0])
            write(rig, WritebackControl(8))
            assert rig.file.writeback_index == 1
            rig.run(rig.sim.now + SECOND)
        assert rig.taken == [0, 11, 0, 0]

    def test_a_second_round_ends_where_the_first_began(self) -> None:
        rig = Rig(pages=12)
        rig.make_dirty([6, 7, 8])
        write(rig, WritebackControl(2))
        assert rig.file.writeback_index == 8
        # 6 and 7 are being written still, and are written once more
        rig.make_dirty([6, 7, 11])
        left = WritebackControl(10)
        write(rig, left)
        assert left.nr_to_write == 8
        assert rig.file.writeback_index == 0
        assert rig.file.dirty == 2
        rig.run(SECOND)
        write(rig, WritebackControl(10))
        rig.run(rig.sim.now + SECOND)
        assert rig.taken == [6, 7, 8, 11, 6, 7]
        assert not rig.file.locked

    def test_everything_begins_at_the_first_page(self) -> None:
        rig = Rig(pages=12)
        rig.make_dirty([1, 5, 7])
        write(rig, WritebackControl(1))
        rig.make_dirty([0])
        write(rig, WritebackControl(10, everything=True))
        rig.run(SECOND)
        assert rig.taken == [1, 0, 5, 7]
        assert rig.file.writeback_index == 8

    def test_nobody_else_writes_a_file_that_is_locked(self) -> None:
        rig = Rig(files=2, nr_requests=4)
        rig.make_dirty(range(12))
        rig.make_dirty([0, 1], rig.files[1])
        first, second = rig.process("first"), rig.process("second")
        rig.begin(first, rig.cache.write_files(first, rig.system, WritebackControl(12)))
        # it sleeps for a request
        rig.run(1)
        assert rig.file.locked
        assert list(rig.system.sync_list) == [rig.files[1]]
        rig.make_dirty([12])
        left = WritebackControl(12)
        rig.begin(second, rig.cache.write_files(second, rig.system, left), at=1)
        rig.run(SECOND)
        assert left.nr_to_write == 10
        # 12 became dirty meanwhile, and the file is listed once
        assert list(rig.system.sync_list) == [rig.file]
        assert not rig.file.locked

    def test_a_bio_costs_and_much_is_paid_for_on_the_way(self) -> None:
        rig = Rig(costs=PageCosts(0, 0, 0, 0, 400 * US))
        rig.make_dirty(range(7))
        process = rig.process()
        rig.begin(process, rig.cache.write_file(process, rig.file, WritebackControl(7)))
        rig.run(SECOND)
        # from a millisecond on: three bios, three, and one at the end
        assert rig.ends == {"p": 2800 * US}
        # the third and fourth come at 1.2 ms, and four unplug the queue
        assert rig.device.taken_ms == list(range(1, 8))
        assert rig.machine.costs.ledger.storage == 2800 * US
        assert rig.machine.costs.ledger.application == 0


class TestFiles:
    def rig(self, **options: Any) -> Rig:
        """Three files with three dirty pages each, since 0, 10 and 20 ms."""
        rig = Rig(files=3, pages=12, memory=1000, **options)
        for number, file in enumerate(rig.files):
            process = rig.process(f"first{number}")
            rig.begin(process, rig.dirty(process, [0, 1, 2], file), at=number * 10 * MS)
        rig.run(25 * MS)
        assert list(rig.system.sync_list) == rig.files
        return rig

    def write(self, rig: Rig, left: WritebackControl) -> list[int]:
        process = rig.process(f"flusher at {rig.sim.now}")
        rig.begin(process, rig.cache.write_files(process, rig.system, left), at=rig.sim.now)
        rig.run(rig.sim.now + SECOND)
        return rig.taken

    def test_the_one_that_was_dirty_first_is_the_first(self) -> None:
        rig = self.rig()
        assert self.write(rig, WritebackControl(100)) == [0, 1, 2, 12, 13, 14, 24, 25, 26]
        assert not rig.system.sync_list

    def test_the_last_page_that_may_be_written_is(self) -> None:
        assert self.write(self.rig(), WritebackControl(1)) == [0]

    def test_what_is_not_written_is_last_in_the_list(self) -> None:
        rig = self.rig()
        left = WritebackControl(5)
        assert self.write(rig, left) == [0, 1, 2, 12, 13]
        assert left.nr_to_write == 0
        assert list(rig.system.sync_list) == [rig.files[2], rig.files[1]]

    @pytest.mark.parametrize(("older_ms", "files"), [(9, 1), (10, 2), (19, 2), (20, 3)])
    def test_the_young_are_left_alone(self, older_ms: int, files: int) -> None:
        rig = self.rig()
        assert len(self.write(rig, WritebackControl(100, older_than_ps=older_ms * MS))) == 3 * files
        assert list(rig.system.sync_list) == rig.files[files:]

    def test_a_congested_queue_is_given_no_more_by_who_does_not_wait(self) -> None:
        rig = self.rig(nr_requests=8)
        left = WritebackControl(100, nonblocking=True)
        # eight requests are congestion
        assert len(self.write(rig, left)) == 8
        assert left.nr_to_write == 92
        assert rig.files[2].dirty == 1
        assert list(rig.system.sync_list) == [rig.files[2]]

    def test_who_waits_goes_on(self) -> None:
        rig = self.rig(nr_requests=8)
        assert len(self.write(rig, WritebackControl(100))) == 9

    def test_a_congested_queue_gets_no_first_page_either(self) -> None:
        rig = self.rig()
        rig.queue.congested[1] = True
        assert self.write(rig, WritebackControl(100, nonblocking=True)) == []
        assert list(rig.system.sync_list) == rig.files
        assert len(self.write(rig, WritebackControl(100))) == 9


class TestBalance:
    def test_limits_are_looked_at_every_so_many_pages(self) -> None:
        rig = Rig(pages=100)
        asked = []
        rig.cache.start_background = lambda: asked.append(rig.cache.dirty)
        assert (rig.cache.ratelimit, rig.cache.limit, rig.cache.background) == (16, 40, 10)
        rig.make_dirty(range(15))
        assert asked == []
        rig.make_dirty([15])
        assert asked == [16]
        # a page that is dirty already counts, too
        rig.make_dirty([15] * 15)
        assert asked == [16]
        rig.make_dirty([15])
        assert asked == [16, 16]

    @pytest.mark.parametrize(("background", "asked"), [(15, True), (16, False)])
    def test_pdflush_is_asked_above_its_limit(self, background: int, *, asked: bool) -> None:
        rig = Rig(pages=100, background=background)
        calls: list[int] = []
        rig.cache.start_background = lambda: calls.append(1)
        rig.make_dirty(range(16))
        assert bool(calls) == asked

    def test_beyond_the_limit_a_writer_writes_one_and_a_half_of_what_it_made_dirty(self) -> None:
        rig = Rig(pages=100)
        rig.make_dirty(range(32))
        assert not rig.cache.exceeded
        process = rig.process()
        rig.begin(process, rig.dirty(process, range(32, 48)))
        rig.run(MS)
        # 48 of 40: 24 are on their way, and it goes on
        assert rig.ends == {"p": 0}
        assert counts(rig) == (24, 24, 48)
        exceeded: bool = rig.cache.exceeded
        assert exceeded
        # it is looked at every eight pages: of 32 and 23 that are being written
        other = rig.process("other")
        rig.begin(other, rig.dirty(other, range(48, 56)), at=MS)
        rig.run(2 * MS)
        assert counts(rig) == (8, 47, 56)
        rig.make_dirty(range(56, 63))
        assert counts(rig) == (15, 47, 63)

    def test_at_the_limit_nobody_writes(self) -> None:
        rig = Rig(pages=100, dirty_ratio=48)
        rig.make_dirty(range(48))
        assert not rig.cache.exceeded
        assert counts(rig) == (48, 0, 48)
        assert rig.cache.limit == 48

    def test_what_is_being_written_counts_and_is_waited_for(self) -> None:
        rig = Rig(pages=100, memory=100, dirty_ratio=16)
        rig.make_dirty(range(16))
        write(rig, WritebackControl(16))
        assert counts(rig) == (0, 16, 16)
        process = rig.process()
        # of the 24 that it should write only 16 are dirty
        rig.begin(process, rig.dirty(process, range(16, 32)), at=2 * MS)
        rig.run(3 * MS)
        # two of the first are done
        assert counts(rig)[:2] == (0, 30)
        assert rig.cache.exceeded
        rig.run(SECOND)
        # nothing is congested: it sleeps for a tenth of a second, and finds all written
        assert rig.ends["p"] == 102 * MS
        assert not rig.cache.exceeded

    def test_a_writer_that_finds_one_page_less_sleeps_as_well(self) -> None:
        rig = Rig(pages=100, memory=100, dirty_ratio=16)
        rig.make_dirty(range(16))
        write(rig, WritebackControl(9))
        process = rig.process()
        # 7 and 16 dirty pages of the 24 that it should write
        rig.begin(process, rig.dirty(process, range(16, 32)))
        rig.run(SECOND)
        assert rig.ends["p"] >= 100 * MS

    def test_a_sleeper_goes_on_when_the_queue_is_congested_no_more(self) -> None:
        rig = Rig(nr_requests=8)
        rig.make_dirty(range(8))
        write(rig, WritebackControl(8))
        assert rig.queue.congested[1]
        process = rig.process()
        rig.begin(process, rig.cache.congestion_wait(process, rig.system))
        rig.run(SECOND)
        # off below six of eight, when the third is done
        assert rig.ends["p"] == 3 * MS

    @pytest.mark.parametrize(("hz", "end_ms"), [(1000, 105), (250, 104), (100, 100)])
    def test_a_sleep_for_congestion_ends_with_the_tick_after_a_tenth_of_a_second(
        self, hz: int, end_ms: int
    ) -> None:
        rig = Rig(hz=hz)
        process = rig.process()
        rig.begin(process, rig.cache.congestion_wait(process, rig.system), at=5500 * US)
        rig.run(SECOND)
        assert rig.ends == {"p": end_ms * MS}
        # what comes later wakes nobody twice
        rig.queue.congested[1] = True
        rig.queue.set_nr_requests(64)
        rig.run(2 * SECOND)


def test_a_page_that_was_written_wakes_nobody_else() -> None:
    rig = Rig()
    rig.make_dirty([3])
    write(rig, WritebackControl(1))
    events = {page: rig.file.wait_for(page, rig.env) for page in (2, 3, 4)}
    rig.run(SECOND)
    assert [page for page, event in events.items() if event.triggered] == [3]


class TestFsync:
    def test_it_ends_when_all_is_on_the_disk(self) -> None:
        rig = Rig(costs=PageCosts(2000, 0, 0, 0, 1000))
        rig.make_dirty([1, 4, 5])
        process = rig.process()
        rig.begin(process, rig.cache.sync_file(process, rig.file))
        rig.run(SECOND)
        # it unplugs the queue before it works off what it owes
        assert rig.ends == {"p": 3 * MS}
        assert rig.machine.costs.ledger.storage == 5000
        assert rig.taken == [1, 4, 5]
        assert counts(rig) == (0, 0, 3)

    def test_it_waits_for_what_others_are_writing(self) -> None:
        rig = Rig()
        rig.make_dirty([0, 11])
        write(rig, WritebackControl(2))
        process = rig.process()
        rig.begin(process, rig.cache.sync_file(process, rig.file), at=500 * US)
        rig.run(SECOND)
        assert rig.ends["p"] == 2500 * US
        assert rig.taken == [0, 11]

    def test_a_page_that_is_written_anew_meanwhile_is_waited_for_once(self) -> None:
        rig = Rig()
        rig.make_dirty([0])
        process = rig.process()
        rig.begin(process, rig.cache.sync_file(process, rig.file))
        rig.run(500 * US)
        rig.make_dirty([0])
        assert rig.states()[0] == REDIRTIED
        rig.run(SECOND)
        assert rig.ends["p"] == MS
        assert counts(rig) == (1, 0, 1)

    def test_it_waits_for_all_in_whichever_order_they_are_written(self) -> None:
        rig = Rig()
        for page in (5, 2):
            rig.make_dirty([page])
            write(rig, WritebackControl(1))
        rig.make_dirty([5])
        assert (rig.states()[2], rig.states()[5]) == (WRITTEN, REDIRTIED)
        process = rig.process()
        rig.begin(process, rig.cache.sync_file(process, rig.file))
        rig.run(SECOND)
        # the plug goes with the second tick: the first page is done a millisecond after that
        assert rig.taken == [5, 2]
        assert rig.ends["p"] == rig.device.taken_ms[1] * MS + MS + 2

    def test_it_writes_from_the_first_page_on(self) -> None:
        rig = Rig(pages=12)
        rig.make_dirty([7])
        write(rig, WritebackControl(1))
        rig.make_dirty([9, 2])
        process = rig.process()
        rig.begin(process, rig.cache.sync_file(process, rig.file))
        rig.run(SECOND)
        assert rig.taken == [7, 2, 9]

    def test_a_file_that_is_dirty_again_afterwards_is_the_last_to_be_written(self) -> None:
        rig = Rig(files=2)
        rig.make_dirty([0])
        rig.make_dirty([0], rig.files[1])
        process = rig.process()
        rig.begin(process, rig.cache.sync_file(process, rig.file))
        rig.run(10 * MS)
        assert list(rig.system.sync_list) == [rig.files[1]]
        rig.make_dirty([1])
        assert list(rig.system.sync_list) == [rig.files[1], rig.file]

    def test_nothing_dirty_is_nothing_to_wait_for(self) -> None:
        rig = Rig(costs=PageCosts(2000, 0, 0, 0, 1000))
        process = rig.process()
        rig.begin(process, rig.cache.sync_file(process, rig.file))
        rig.run(SECOND)
        assert rig.ends == {"p": 2000}
