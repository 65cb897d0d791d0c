"""Tunables of all schedulers by tick rate, and what noop and deadline do with requests."""

import pytest

from simnet.storage.block.elevator import MUST_QUEUE
from simnet.storage.block.switch import ELEVATORS
from tests.storage.block.parts import Kernel

# in jiffies where the kernel has them, else as they are
VALUES = {
    ("deadline", 250): [125, 1250, 2, 1, 16],
    ("deadline", 100): [50, 500, 2, 1, 16],
    ("anticipatory", 250): [31, 62, 1, 125, 31],
    ("anticipatory", 100): [12, 25, 1, 50, 12],
    ("cfq", 250): [4, 8, 31, 62, 16384, 2, 25, 10, 2, 2],
    ("cfq", 100): [4, 8, 12, 25, 16384, 2, 10, 4, 2, 1],
    ("noop", 250): [],
}


@pytest.mark.parametrize(("scheduler", "hz"), VALUES)
def test_times_are_kept_in_ticks(scheduler: str, hz: int) -> None:
    assert list(Kernel(scheduler, hz=hz).elevator.values.values()) == VALUES[scheduler, hz]


def test_what_is_written_is_rounded_up_and_shown_in_ms() -> None:
    elevator = Kernel("cfq", hz=250).elevator
    for written, ticks, shown in ((8, 2, 8), (9, 3, 12), (12, 3, 12), (0, 0, 0), (1, 1, 4)):
        elevator.store("slice_idle", written)
        assert (elevator.values["slice_idle"], elevator.show("slice_idle")) == (ticks, shown)
    elevator.store("quantum", 9)
    assert (elevator.values["quantum"], elevator.show("quantum")) == (9, 9)


def test_a_number_is_forced_into_its_range() -> None:
    largest = (1 << 31) - 1
    deadline = Kernel("deadline").elevator
    for name, least, most in (
        ("writes_starved", -(1 << 31), largest),
        ("front_merges", 0, 1),
        ("fifo_batch", 0, largest),
        ("read_expire", 0, largest),
    ):
        for written, kept in ((least - 1, least), (least, least), (most, most), (most + 1, most)):
            deadline.store(name, written)
            assert deadline.show(name) == kept, name
    cfq = Kernel("cfq").elevator
    for name in cfq.tunables:
        cfq.store(name, -5)
        assert cfq.show(name) == (0 if name in {"back_seek_max", "slice_idle"} else 1)


@pytest.mark.parametrize("scheduler", ELEVATORS)
def test_a_process_that_nobody_waits_for_gets_no_request_beyond_the_limit(scheduler: str) -> None:
    kernel = Kernel(scheduler)
    bio = kernel.bio(0, 8, "a", write=False, sync=True)
    assert kernel.elevator.may_queue(bio) is not MUST_QUEUE
    assert kernel.elevator.empty()
    assert kernel.dispatch() == []
    kernel.add(1000)
    assert not kernel.elevator.empty()


class TestNoop:
    def test_neighbours_are_those_that_came_before_and_after(self) -> None:
        kernel = Kernel("noop")
        first, second, third = (kernel.add(sector) for sector in (5000, 1000, 3000))
        elevator = kernel.elevator
        assert [elevator.former(each) for each in (first, second, third)] == [None, first, second]
        assert [elevator.latter(each) for each in (first, second, third)] == [second, third, None]
        gone = kernel.add(9000)
        elevator.merged_requests(third, gone)
        assert (elevator.former(gone), elevator.latter(gone)) == (None, None)
        assert kernel.dispatch_all() == [5000, 1000, 3000]
        assert elevator.empty()

    def test_it_looks_for_no_merges(self) -> None:
        kernel = Kernel("noop")
        kernel.add(1000)
        bio = kernel.bio(1008, 8, "a", write=False, sync=False)
        assert kernel.elevator.merge(bio) is None

    def test_it_runs_the_queue_when_kblockd_says_so(self) -> None:
        kernel = Kernel("noop")
        kernel.elevator.work()
        assert kernel.told() == ["run"]


class TestDeadline:
    def test_a_read_has_half_a_second_and_a_write_five(self) -> None:
        for write, expires in ((False, 500), (True, 5000)):
            kernel = Kernel("deadline")
            assert kernel.add(1000, write=write).expires - kernel.now == expires

    @pytest.mark.parametrize(("age", "second"), [(500, 3000), (501, 1000)])
    def test_one_whose_time_is_over_goes_first(self, age: int, second: int) -> None:
        kernel = Kernel("deadline")
        for sector in (2000, 1000, 3000):
            kernel.add(sector)
        assert kernel.dispatch() == [2000]
        kernel.now += age
        assert kernel.dispatch() == [second]

    def test_a_batch_is_counted_while_requests_follow_each_other(self) -> None:
        kernel = Kernel("deadline")
        kernel.elevator.store("fifo_batch", 3)
        for number in range(6):
            kernel.add(8 * number)
        kernel.add(9000, write=True)
        # two batches of three, then the write
        assert kernel.dispatch_all() == [0, 8, 16, 24, 32, 40, 9000]
        kernel = Kernel("deadline")
        kernel.elevator.store("fifo_batch", 3)
        for number in range(7):
            kernel.add(8 * number)
        kernel.add(9000, write=True)
        assert kernel.dispatch_all() == [0, 8, 16, 24, 32, 40, 9000, 48]

    def test_a_batch_goes_on_past_the_deadline_of_another(self) -> None:
        kernel = Kernel("deadline")
        for sector in (5000, 5008, 100):
            kernel.add(sector)
        assert kernel.dispatch() == [5000]
        kernel.now += 1000
        assert kernel.dispatch() == [5008]
        assert kernel.dispatch() == [100]

    @pytest.mark.parametrize(("starved", "place"), [(0, 0), (1, 1), (2, 2), (3, 3)])
    def test_writes_wait_for_so_many_reads(self, starved: int, place: int) -> None:
        kernel = Kernel("deadline")
        kernel.elevator.store("writes_starved", starved)
        for number in range(5):
            kernel.add(1000 * number)
        kernel.add(90_000, write=True)
        assert kernel.dispatch_all().index(90_000) == place

    def test_after_the_other_direction_it_begins_with_the_oldest(self) -> None:
        kernel = Kernel("deadline")
        kernel.elevator.store("writes_starved", 1)
        for sector in (5000, 1000, 7000):
            kernel.add(sector)
        for sector in (90_000, 80_000):
            kernel.add(sector, write=True)
        assert kernel.dispatch_all() == [5000, 90_000, 1000, 80_000, 7000]

    def test_a_request_for_the_same_sector_lets_the_other_go(self) -> None:
        kernel = Kernel("deadline")
        kernel.add(1000)
        kernel.add(1000)
        assert [request.sector for request in kernel.head] == [1000]
        assert kernel.dispatch_all() == [1000]

    def test_it_finds_what_a_bio_can_be_put_behind_or_before(self) -> None:
        kernel = Kernel("deadline")
        read, write = kernel.add(1000), kernel.add(5000, write=True)
        merge = kernel.elevator.merge

        def found(sector: int, *, write: bool = False) -> object:
            return merge(kernel.bio(sector, 8, "b", write=write, sync=False))

        assert found(1008) is read
        assert found(992) is read
        assert found(992, write=True) is None
        assert found(1008, write=True) is None
        assert found(5008, write=True) is write
        assert found(4992, write=True) is write
        read.no_merge = True
        assert found(992) is None
        kernel.elevator.store("front_merges", 0)
        assert found(4992, write=True) is None
        # what was dispatched is found no more
        kernel.dispatch_all()
        assert found(5008, write=True) is None

    def test_a_request_that_grew_at_its_front_is_in_its_new_place(self) -> None:
        kernel = Kernel("deadline")
        low, request = kernel.add(1000), kernel.add(5000)
        request.sector, request.sectors = 900, 4108
        kernel.elevator.merged(request)
        assert kernel.elevator.former(low) is request
        assert kernel.elevator.latter(request) is low
        bio = kernel.bio(5008, 8, "a", write=False, sync=False)
        assert kernel.elevator.merge(bio) is request

    def test_what_follows_a_swallowed_request_is_next(self) -> None:
        kernel = Kernel("deadline")
        for sector in (900, 1000, 1008, 3000):
            kernel.add(sector)
        first, following = kernel.elevator.fifo[0][1], kernel.elevator.fifo[0][2]
        assert kernel.dispatch() == [900]
        first.sectors += 8
        kernel.elevator.merged_requests(first, following)
        assert kernel.dispatch_all() == [1000, 3000]
