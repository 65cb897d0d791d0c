"""The anticipatory scheduler step by step: batches, expiry, and what it does with requests."""

import pytest

from simnet.storage.block.anticipation import ANTIC_TIMER, FINISHED, OFF, WAIT_NEXT, WAIT_REQUEST
from simnet.storage.block.elevator import MUST_QUEUE
from tests.storage.block.parts import Kernel, anticipatory

FAR = 10**8
WRITES, READS = 0, 1


class TestBatches:
    def test_the_first_read_begins_a_batch_of_reads(self) -> None:
        kernel = anticipatory()
        start = kernel.now
        elevator = kernel.elevator
        assert elevator.current_batch_expires == start + 500
        read = kernel.add(1000)
        kernel.now += 40
        assert kernel.dispatch() == [1000]
        assert elevator.batch_kind == READS
        # it has half a second from the end of the first one on
        kernel.now += 5
        kernel.complete(read)
        assert elevator.current_batch_expires == start + 45 + 500
        assert elevator.nr_dispatched == 0
        # no write has taken any time: twice as many
        assert elevator.write_batch_count == 24

    def reads_and_writes(self, reads: int = 5) -> Kernel:
        """A batch of reads with one complete, and more of both; nobody is waited for."""
        kernel = anticipatory(antic_expire=0)
        first = kernel.add(0)
        assert kernel.dispatch() == [0]
        kernel.complete(first)
        for number in range(1, reads + 1):
            kernel.add(1000 * number)
        for number in range(40):
            kernel.add(FAR + 1000 * number, write=True)
        return kernel

    @pytest.mark.parametrize(("age", "sector"), [(500, 1000), (501, FAR)])
    def test_reads_go_on_until_their_time_is_over(self, age: int, sector: int) -> None:
        kernel = self.reads_and_writes()
        kernel.now += age
        # the fifo was looked at just then
        kernel.elevator.last_check_fifo = [kernel.now, kernel.now]
        assert kernel.dispatch() == [sector]

    def test_writes_go_on_until_they_are_enough_or_their_time_is_over(self) -> None:
        for age, sector in ((125, FAR + 1000), (126, 1000)):
            kernel = self.reads_and_writes()
            kernel.now += 501
            kernel.elevator.last_check_fifo = [kernel.now, kernel.now]
            assert kernel.dispatch() == [FAR]
            (write,) = kernel.head
            assert kernel.elevator.current_write_count == 23
            kernel.complete(write)
            kernel.now += age
            kernel.elevator.last_check_fifo = [kernel.now, kernel.now]
            assert kernel.dispatch() == [sector]

    def test_so_many_writes_are_a_batch(self) -> None:
        kernel = self.reads_and_writes()
        kernel.now += 501
        kernel.elevator.last_check_fifo = [kernel.now, kernel.now]
        given = []
        for _ in range(24):
            given += kernel.dispatch()
        assert given == [FAR + 1000 * number for number in range(24)]
        # 24 were allowed; reads are next, when all of these are complete
        writes = kernel.elevator.nr_dispatched
        assert writes == 24
        assert kernel.dispatch() == []
        assert kernel.elevator.batch_kind == READS
        assert kernel.dispatch() == []

    def test_a_new_batch_waits_for_the_last_of_the_old(self) -> None:
        kernel = self.reads_and_writes()
        two = kernel.dispatch() + kernel.dispatch()
        assert two == [1000, 2000]
        kernel.now += 501
        kernel.elevator.last_check_fifo = [kernel.now, kernel.now]
        assert kernel.dispatch() == []
        assert kernel.elevator.changed_batch
        assert kernel.elevator.batch_kind == WRITES

    def test_without_writes_the_time_of_reads_begins_anew_with_each(self) -> None:
        kernel = anticipatory(antic_expire=0)
        for number in range(3):
            kernel.add(1000 * number)
        kernel.dispatch()
        kernel.now += 100
        kernel.dispatch()
        assert kernel.elevator.current_batch_expires == kernel.now + 500

    def test_without_reads_writes_go_on(self) -> None:
        kernel = anticipatory()
        for number in range(30):
            kernel.add(1000 * number, write=True)
        assert kernel.dispatch_all() == [1000 * number for number in range(30)]
        assert kernel.elevator.write_batch_idled

    def test_forced_all_reads_go_and_then_all_writes(self) -> None:
        kernel = anticipatory()
        for number in range(3):
            kernel.add(FAR + 1000 * number)
            kernel.add(1000 * number, write=True)
        kernel.now += 7
        elevator = kernel.elevator
        elevator.changed_batch = elevator.new_batch = True
        assert kernel.dispatch(force=True) == [FAR, FAR + 1000, FAR + 2000, 0, 1000, 2000]
        assert elevator.last_check_fifo == [kernel.now, kernel.now]
        assert elevator.batch_kind == READS
        assert not elevator.changed_batch
        assert not elevator.new_batch
        assert elevator.empty()


class TestCompletion:
    def test_the_last_of_a_batch_lets_the_next_begin(self) -> None:
        kernel = anticipatory(antic_expire=0)
        writes = [kernel.add(FAR + 1000 * number, write=True) for number in range(2)]
        kernel.dispatch()
        kernel.dispatch()
        kernel.elevator.current_write_count = 0
        kernel.add(1000)
        assert kernel.dispatch() == []
        elevator = kernel.elevator
        assert elevator.changed_batch
        kernel.told()
        kernel.complete(writes[0])
        assert (elevator.changed_batch, elevator.nr_dispatched) == (True, 1)
        assert kernel.told() == []
        kernel.complete(writes[1])
        assert (elevator.changed_batch, elevator.new_batch) == (False, True)
        assert kernel.told() == ["work"]
        assert kernel.dispatch() == [1000]

    def test_the_time_for_the_next_read_begins_when_one_is_complete(self) -> None:
        kernel = anticipatory()
        read = kernel.add(1000)
        kernel.dispatch()
        kernel.add(FAR, "b")
        assert kernel.dispatch() == []
        assert kernel.elevator.status == WAIT_REQUEST
        assert kernel.timers == {}
        kernel.now += 4
        kernel.complete(read)
        assert kernel.elevator.status == WAIT_NEXT
        assert kernel.timers == {ANTIC_TIMER: 6}
        assert kernel.elevator.antic_start == kernel.now

    def test_a_read_of_another_process_begins_no_wait(self) -> None:
        kernel = anticipatory(antic_expire=0)
        first, second = kernel.add(1000), kernel.add(2000, "b")
        kernel.dispatch()
        kernel.dispatch()
        kernel.now += 4
        kernel.complete(first)
        assert not kernel.elevator.process_finished
        kernel.complete(second)
        assert kernel.elevator.process_finished

    def test_think_times_begin_at_the_last_completion_of_reads(self) -> None:
        kernel = anticipatory()
        read, write = kernel.add(1000), kernel.add(FAR, "b", write=True)
        histories = [each.queue for each in (read, write)]
        assert [history.io_running for history in histories] == [False, False]
        kernel.dispatch()
        kernel.now += 9
        kernel.complete(read)
        assert (histories[0].io_running, histories[0].last_end_request) == (True, kernel.now)
        kernel.elevator.timer(ANTIC_TIMER)
        kernel.dispatch()
        kernel.complete(write)
        assert not histories[1].io_running

    def test_what_a_process_has_is_counted(self) -> None:
        kernel = anticipatory(antic_expire=0)
        reads = [kernel.add(1000 * number) for number in range(3)]
        history = reads[0].queue
        assert (history.nr_queued, history.nr_dispatched) == (3, 0)
        assert kernel.elevator.dispatch() == 1
        # between the scheduler and the driver
        assert (history.nr_queued, history.nr_dispatched) == (2, 1)
        kernel.elevator.activate(reads[0])
        assert history.nr_dispatched == 0
        kernel.elevator.deactivate(reads[0])
        assert history.nr_dispatched == 1


class TestExpiry:
    @pytest.mark.parametrize(("age", "order"), [(125, [4000, 5000]), (126, [4000, 2000])])
    def test_the_oldest_read_goes_first_when_its_time_is_over(
        self, age: int, order: list[int]
    ) -> None:
        kernel = anticipatory(antic_expire=0)
        for sector in (4000, 2000, 5000):
            kernel.add(sector)
        first = kernel.dispatch()
        kernel.now += age
        assert first + kernel.dispatch() == order

    def test_it_is_looked_at_once_in_that_time(self) -> None:
        kernel = anticipatory(antic_expire=0)
        for sector in (4000, 2000, 5000, 6000, 7000):
            kernel.add(sector)
        kernel.now += 200
        assert kernel.dispatch() == [4000]
        # a new batch looks at it; 124 ticks later nobody does
        kernel.now += 124
        assert kernel.dispatch() == [5000]
        kernel.now += 1
        assert kernel.dispatch() == [2000]
        kernel.now += 125
        assert kernel.dispatch() == [6000]

    def test_a_write_has_a_quarter_of_a_second_and_a_read_half_of_that(self) -> None:
        kernel = anticipatory()
        assert kernel.add(1000).expires - kernel.now == 125
        assert kernel.add(2000, write=True).expires - kernel.now == 250
        # a write that is waited for counts as a read
        synced = kernel.add(3000, write=True, sync=True)
        assert synced.expires - kernel.now == 125
        assert synced.is_sync

    def test_an_old_read_is_not_kept_waiting_for_a_near_one(self) -> None:
        kernel = anticipatory()
        read = kernel.add(1000)
        kernel.dispatch()
        kernel.complete(read)
        kernel.now += 1
        kernel.add(FAR, "b")
        kernel.now += 126
        # without the expiry it would begin to wait here
        kernel.elevator.antic_start = kernel.now
        assert kernel.dispatch() == [FAR]


class TestWaiting:
    def waiting(self) -> Kernel:
        kernel = anticipatory()
        read = kernel.add(1000)
        kernel.dispatch()
        kernel.complete(read)
        kernel.add(FAR, "b")
        assert kernel.dispatch() == []
        assert kernel.elevator.status == WAIT_NEXT
        kernel.told()
        return kernel

    def test_the_process_that_is_waited_for_gets_a_request_and_nobody_else(self) -> None:
        kernel = self.waiting()
        for name, must in (("a", True), ("b", False), ("c", False)):
            bio = kernel.bio(2000, 8, name, write=False, sync=True)
            assert (kernel.elevator.may_queue(bio) is MUST_QUEUE) == must

    def test_its_read_ends_the_wait(self) -> None:
        kernel = self.waiting()
        kernel.add(FAR * 2)
        assert kernel.elevator.status == FINISHED
        assert kernel.timers == {}
        assert kernel.told() == ["work"]
        # whichever is nearer then
        assert kernel.dispatch() == [FAR]
        assert kernel.elevator.status == OFF

    def test_a_far_read_of_another_does_not(self) -> None:
        kernel = self.waiting()
        kernel.add(FAR * 3, "c")
        assert kernel.elevator.status == WAIT_NEXT
        assert kernel.told() == []

    def test_nor_does_a_write(self) -> None:
        kernel = self.waiting()
        kernel.add(1008, "c", write=True)
        assert kernel.elevator.status == WAIT_NEXT

    def test_in_vain(self) -> None:
        kernel = self.waiting()
        kernel.elevator.timer(ANTIC_TIMER)
        assert kernel.elevator.status == FINISHED
        assert kernel.told() == ["work"]
        assert kernel.dispatch() == [FAR]

    def test_kblockd_runs_a_queue_that_has_anything(self) -> None:
        kernel = anticipatory()
        kernel.elevator.work()
        assert kernel.told() == []
        kernel.add(1000)
        kernel.elevator.work()
        assert kernel.told() == ["run"]

    def test_another_scheduler_finds_no_timer(self) -> None:
        kernel = self.waiting()
        assert kernel.timers == {ANTIC_TIMER: 6}
        kernel.elevator.shut()
        assert kernel.timers == {}

    def test_a_process_that_has_ended_is_known_to_have(self) -> None:
        kernel = anticipatory()
        history = kernel.add(1000).queue
        assert history.running
        kernel.context("a").exit()
        assert not history.running
        # and one that ends before its request comes, too
        kernel.context("late").running = False
        assert not kernel.add(5000, "late").queue.running
