"""What the anticipatory scheduler learns and decides, against block/as-iosched.c written out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.storage.block.anticipation import FINISHED, OFF, WAIT_NEXT, WAIT_REQUEST
from simnet.storage.block.anticipatory import Anticipatory
from simnet.storage.block.process_history import ProcessHistory, SeekHistory
from simnet.storage.block.request import Bio, IoContext, Request
from tests.house.examples import examples
from tests.storage.parts import MS, Bench

HZ = 1000
READS, WRITES = 1, 0


def make(hz: int = HZ) -> Anticipatory:
    elevator = Bench(scheduler="anticipatory", hz=hz).queue.elevator
    assert isinstance(elevator, Anticipatory)
    return elevator


def request(sector: int, process: ProcessHistory | None = None, *, write: bool = False) -> Request:
    made = Request(Bio(sector, 8, write=write, context=IoContext("p")), 0, 0)
    made.queue = process or ProcessHistory()
    return made


def told(ttimes: int, mean: int = 0) -> ProcessHistory:
    """A process of which so many think times, all of `mean` jiffies, are known."""
    process = ProcessHistory()
    for _ in range(ttimes):
        process.add_think_time(mean)
    return process


def wait_for(elevator: Anticipatory, process: ProcessHistory, since_ms: int = 0) -> None:
    """As after a read of the process that ended `since_ms` ago at sector 100,000."""
    elevator.batch_kind = READS
    elevator.last_sector = [0, 100_000]
    elevator.process = process
    elevator.process_finished = True
    elevator.status = WAIT_NEXT
    elevator.antic_start = elevator.q.jiffies() - since_ms * elevator.q.hz // 1000


class TestHistory:
    @settings(max_examples=examples(200))
    @given(st.lists(st.integers(0, 5000), min_size=1, max_size=40))
    def test_think_times_decay_by_an_eighth(self, times: list[int]) -> None:
        process = ProcessHistory()
        samples = total = 0
        for ttime in times:
            process.add_think_time(ttime)
            samples = (7 * samples + 256) // 8
            total = (7 * total + 256 * ttime) // 8
            assert process.ttime_mean == (total + 128) // samples
        assert (process.ttime_samples, process.ttime_total) == (samples, total)

    @settings(max_examples=examples(200))
    @given(st.lists(st.integers(0, 1 << 30), min_size=1, max_size=40))
    def test_a_long_seek_is_cut_the_more_the_more_are_known(self, distances: list[int]) -> None:
        process = SeekHistory()
        samples = total = mean = 0
        for distance in distances:
            process.add_seek(distance)
            slack = 2 * 1024 * (1024 if samples <= 60 else 64)
            samples = (7 * samples + 256) // 8
            total = (7 * total + 256 * min(distance, 4 * mean + slack)) // 8
            mean = (total + samples // 2) // samples
            assert process.seek_mean == mean

    def test_the_first_read_tells_nothing(self) -> None:
        process = ProcessHistory()
        assert process.observe(request(1000), 500, HZ) is None
        # one that is queued while others are has not been thought about
        process.nr_queued = 1
        assert process.observe(request(3000), 600, HZ) == (0, 1992)
        assert process.observe(request(1008), 600, HZ) == (0, 2000)
        # two samples of 1992 and 2000 sectors
        assert (process.seek_samples, process.ttime_samples) == (60, 60)
        assert process.seek_total == (7 * 32 * 1992 + 256 * 2000) // 8

    @pytest.mark.parametrize(
        ("queued", "dispatched", "gone", "ttime"),
        # hz / 50 is the longest that counts
        [(0, 0, 5, 5), (0, 0, 19, 19), (0, 0, 500, 19), (1, 0, 5, 0), (0, 1, 5, 0)],
    )
    def test_thinking_is_what_lies_between_two_reads(
        self, queued: int, dispatched: int, gone: int, ttime: int
    ) -> None:
        process = ProcessHistory()
        process.observe(request(1000), 100, HZ)
        process.io_running = True
        process.last_end_request = 110
        process.nr_queued, process.nr_dispatched = queued, dispatched
        assert process.observe(request(1008), 110 + gone, HZ) == (ttime, 0)

    def test_what_new_processes_do_is_learned_from_the_second_read_of_each(self) -> None:
        elevator = make()
        elevator.exit_prob = 200
        process = ProcessHistory()
        for sector in (1000, 6008, 7000):
            elevator._update_history(process, request(sector, process))
            process.io_running = True
            process.last_end_request = elevator.q.jiffies() - 12
        # 256 x 5000 / 8, and a think time of 12 jiffies in the same way
        assert (elevator.new_seek_total, elevator.new_seek_mean) == (160_000, 625)
        assert (elevator.new_ttime_total, elevator.new_ttime_mean) == (384, 1)
        assert elevator.exit_prob == 7 * 200 // 8

    def test_writes_tell_nothing(self) -> None:
        elevator = make()
        process = ProcessHistory()
        for sector in (1000, 6008):
            elevator._update_history(process, request(sector, process, write=True))
        assert not process.io_started
        assert elevator.new_seek_total == 0


class TestNear:
    @pytest.mark.parametrize(
        ("sector", "waited_ms", "near"),
        [
            # 8192 sectors ahead, half of them back
            (108_192, 0, True),
            (108_193, 0, False),
            (95_904, 0, True),
            (95_903, 0, False),
            # twice as far with each ms
            (116_384, 1, True),
            (116_385, 1, False),
            # any, once it has been longer than antic_expire
            (10**8, 6, False),
            (10**8, 7, True),
        ],
    )
    def test_what_counts_as_near_grows_with_the_wait(
        self, sector: int, waited_ms: int, *, near: bool
    ) -> None:
        elevator = make()
        process = told(5)
        wait_for(elevator, process, waited_ms)
        # 6 ms of waiting reach 524,288 sectors
        assert elevator._close(process, request(sector)) == near

    @pytest.mark.parametrize(
        ("known", "sector", "near"),
        [(0, 150_001, True), (0, 150_002, False), (1, 120_001, True), (1, 120_002, False)],
    )
    def test_as_far_as_the_process_usually_seeks(
        self, known: int, sector: int, *, near: bool
    ) -> None:
        elevator = make()
        elevator.new_seek_mean = 50_002
        process = ProcessHistory()
        wait_for(elevator, process)
        for _ in range(known):
            process.add_seek(20_002)
        assert elevator._close(process, request(sector)) == near


class TestWorthWaiting:
    def test_its_own_read_ends_it_and_so_do_those_that_it_has(self) -> None:
        elevator = make()
        process = told(5)
        wait_for(elevator, process)
        other = request(10**8)
        assert not elevator._can_break(other)
        assert elevator._can_break(request(10**8, process))
        process.nr_queued = 1
        assert elevator._can_break(other)
        process.nr_queued, process.nr_dispatched = 0, 1
        assert elevator._can_break(other)

    @pytest.mark.parametrize(("waited_ms", "over"), [(5, False), (6, True)])
    def test_antic_expire_ends_it(self, waited_ms: int, *, over: bool) -> None:
        elevator = make()
        wait_for(elevator, told(5), waited_ms)
        assert elevator._can_break(None) == over

    @pytest.mark.parametrize(("mean", "hopeless"), [(6, False), (7, True)])
    def test_who_thinks_longer_than_antic_expire_is_not_waited_for(
        self, mean: int, *, hopeless: bool
    ) -> None:
        elevator = make()
        process = told(30, mean)
        assert process.ttime_mean == mean
        wait_for(elevator, process)
        assert elevator._can_break(None) == hopeless

    @pytest.mark.parametrize(("mean", "hopeless"), [(6, False), (7, True)])
    def test_who_is_not_known_thinks_as_new_ones_do(self, mean: int, *, hopeless: bool) -> None:
        elevator = make()
        elevator.new_ttime_mean = mean
        wait_for(elevator, ProcessHistory())
        assert elevator._can_break(None) == hopeless

    @pytest.mark.parametrize(
        ("ends", "alone", "hopeless"), [(128, 256, False), (129, 256, True), (255, 128, False)]
    )
    def test_nor_is_who_probably_ends_while_nobody_else_is_near(
        self, ends: int, alone: int, *, hopeless: bool
    ) -> None:
        elevator = make()
        elevator.exit_prob, elevator.exit_no_coop = ends, alone
        wait_for(elevator, ProcessHistory())
        assert elevator._can_break(None) == hopeless

    @pytest.mark.parametrize(
        ("known", "alone", "hopeless", "ends"),
        # 7/8 of 80 and 32 more, for one that has never been seen to think
        [(0, 128, False, 102), (0, 129, True, 102), (5, 129, True, 80)],
    )
    def test_who_has_ended_is_not_waited_for_if_others_seldom_help(
        self, known: int, alone: int, ends: int, *, hopeless: bool
    ) -> None:
        elevator = make()
        elevator.exit_prob, elevator.exit_no_coop = 80, alone
        process = told(known)
        process.running = False
        wait_for(elevator, process)
        assert elevator._can_break(None) == hopeless
        assert elevator.exit_prob == ends

    @pytest.mark.parametrize(
        ("known", "running", "ends", "alone"),
        [(0, True, 80, 160), (0, False, 102, 140), (5, False, 80, 140)],
    )
    def test_a_near_read_of_another_shows_that_others_help(
        self, known: int, ends: int, alone: int, *, running: bool
    ) -> None:
        elevator = make()
        elevator.exit_prob, elevator.exit_no_coop = 80, 160
        process = told(known)
        process.running = running
        wait_for(elevator, process)
        assert elevator._can_break(request(100_008))
        assert (elevator.exit_prob, elevator.exit_no_coop) == (ends, alone)
        # what came near counts as its own
        assert process.io_started
        assert process.last_request_pos == 100_016

    @pytest.mark.parametrize(
        ("known", "running", "ends", "alone"),
        [(0, True, 102, 160), (5, True, 80, 160), (0, False, 102, 172), (5, False, 80, 172)],
    )
    def test_a_wait_in_vain_is_learned_from(
        self, known: int, ends: int, alone: int, *, running: bool
    ) -> None:
        elevator = make()
        elevator.exit_prob, elevator.exit_no_coop = 80, 160
        process = told(known)
        process.running = running
        wait_for(elevator, process)
        elevator.timer(0)
        assert elevator.status == FINISHED
        assert (elevator.exit_prob, elevator.exit_no_coop) == (ends, alone)
        # it is learned once
        elevator.timer(0)
        assert (elevator.exit_prob, elevator.exit_no_coop) == (ends, alone)

    def test_nobody_is_waited_for_after_a_write_or_twice(self) -> None:
        elevator = make()
        wait_for(elevator, told(5))
        elevator.status = OFF
        assert elevator._can_anticipate(None)
        elevator.status = FINISHED
        assert not elevator._can_anticipate(None)
        elevator.status, elevator.process = OFF, None
        assert not elevator._can_anticipate(None)

    @pytest.mark.parametrize(("finished", "status"), [(True, WAIT_NEXT), (False, WAIT_REQUEST)])
    def test_the_wait_begins_when_the_read_under_way_is_complete(
        self, status: int, *, finished: bool
    ) -> None:
        elevator = make()
        wait_for(elevator, told(5))
        elevator.status, elevator.process_finished = OFF, finished
        elevator._wait_request()
        assert elevator.status == status


class TestWriteBatch:
    @pytest.mark.parametrize(
        ("took", "written", "idled", "count"),
        [
            # of 125 jiffies; what is left of the batch does not count against it
            (125, 0, False, 40),
            (126, 0, False, 39),
            (375, 0, False, 39),
            (376, 0, False, 20),
            (376, 0, True, 40),
            (124, 0, False, 41),
            (42, 0, False, 41),
            (41, 0, False, 80),
            (41, 3, False, 40),
        ],
    )
    def test_its_size_follows_the_time_that_the_last_took(
        self, took: int, written: int, count: int, *, idled: bool
    ) -> None:
        elevator = make()
        elevator.write_batch_count = 40
        elevator.current_write_count, elevator.write_batch_idled = written, idled
        elevator.current_batch_expires = elevator.q.jiffies() + 125 - took
        elevator._update_write_batch()
        assert elevator.write_batch_count == count

    def test_it_is_never_less_than_one(self) -> None:
        elevator = make()
        elevator.write_batch_count = 1
        elevator.current_batch_expires = elevator.q.jiffies() - 1000
        elevator._update_write_batch()
        assert elevator.write_batch_count == 1

    @pytest.mark.parametrize(("hz", "count"), [(1000, 12), (250, 3), (100, 2)])
    def test_the_first_is_a_tenth_of_its_time_in_jiffies(self, hz: int, count: int) -> None:
        assert make(hz).write_batch_count == count

    def test_writes_that_nobody_held_back_count_as_idle(self) -> None:
        bench = Bench(MS, scheduler="anticipatory", hz=HZ)
        elevator = bench.queue.elevator
        assert isinstance(elevator, Anticipatory)
        elevator.batch_kind, elevator.current_write_count = WRITES, 5
        elevator.dispatch()
        assert elevator.write_batch_idled
        elevator.write_batch_idled = False
        elevator.batch_kind = READS
        elevator.dispatch()
        assert not elevator.write_batch_idled
