"""cfq step by step against block/cfq-iosched.c of Linux 2.6.18: slices, and idling in them."""

import pytest

from simnet.storage.block.cfq_service import IDLE_SLICE
from simnet.storage.block.request import Request
from tests.storage.block.parts import Kernel, cfq, one_after_the_other

FAR = 10**7


class TestSlice:
    @pytest.mark.parametrize(
        ("level", "sync", "asynchronous"),
        # a fifth of the base more for each level above 4
        [(0, 180, 72), (1, 160, 64), (3, 120, 48), (4, 100, 40), (5, 80, 32), (7, 40, 16)],
    )
    def test_its_length_follows_from_kind_and_priority(
        self, level: int, sync: int, asynchronous: int
    ) -> None:
        for write, length in ((False, sync), (True, asynchronous)):
            kernel = cfq()
            kernel.context("a", ioprio_class="be", ioprio=level)
            request = kernel.add(1000, write=write)
            assert request.queue.slice_end == 0
            kernel.dispatch()
            assert request.queue.slice_end - kernel.now == length

    def test_its_parts_are_tunables(self) -> None:
        kernel = cfq(slice_sync=63, slice_async=31)
        reads, writes = kernel.add(1000), kernel.add(2000, write=True)
        for request, length in ((reads, 63), (writes, 31)):
            kernel.dispatch()
            assert request.queue.slice_end - kernel.now == length
            kernel.complete(request)
            kernel.elevator.timer(IDLE_SLICE)
            kernel.now += 200

    def test_a_quantum_is_dispatched_at_a_time_until_it_is_over(self) -> None:
        kernel = cfq()
        requests = [kernel.add(1000 * number) for number in range(1, 14)]
        kernel.add(FAR, "b")
        assert kernel.dispatch() == [1000, 2000, 3000, 4000]
        kernel.now += 100
        # its last tick
        assert kernel.dispatch() == [5000, 6000, 7000, 8000]
        kernel.now += 1
        assert kernel.dispatch() == [FAR]
        assert not requests[8].started

    def test_quantum_is_a_tunable(self) -> None:
        kernel = cfq(quantum=2)
        for number in range(1, 6):
            kernel.add(1000 * number)
        assert kernel.dispatch() == [1000, 2000]

    @pytest.mark.parametrize(("used", "left"), [(30, 70), (100, 0), (200, 0)])
    def test_what_remains_of_a_slice_is_noted(self, used: int, left: int) -> None:
        kernel = cfq()
        request = kernel.add(1000)
        kernel.dispatch()
        kernel.add(FAR, "b")
        kernel.complete(request)
        kernel.now += used
        kernel.elevator.timer(IDLE_SLICE)
        assert request.queue.slice_left == left
        assert request.queue.service_last == kernel.now

    @pytest.mark.parametrize(("level", "most"), [(7, 4), (4, 16), (0, 32)])
    def test_writes_are_at_most_so_many_in_a_slice(self, level: int, most: int) -> None:
        # 4 and as many again for each level above 7
        kernel = cfq(quantum=most - 1)
        kernel.context("a", ioprio_class="be", ioprio=level)
        for number in range(most + 9):
            kernel.add(1000 * number, write=True)
        kernel.dispatch()
        assert kernel.elevator.dispatch_slice == most - 1
        # a quantum more, and it is over
        kernel.dispatch()
        assert kernel.elevator.dispatch_slice == 0

    def test_a_queue_with_all_of_its_requests_in_the_device_keeps_its_slice(self) -> None:
        kernel = cfq()
        kernel.add(1000)
        kernel.add(FAR, "b")
        assert kernel.dispatch() == [1000]
        assert kernel.dispatch() == []
        kernel.now += 100
        assert kernel.dispatch() == []
        kernel.now += 1
        assert kernel.dispatch() == [FAR]

    def test_one_whose_slice_is_over_waits_by_when_its_last_request_was_complete(self) -> None:
        kernel = cfq(quantum=1)
        first = kernel.add(1000)
        kernel.add(2000)
        kernel.dispatch()
        kernel.now += 101
        kernel.add(FAR, "b")
        kernel.dispatch()
        queue = first.queue
        assert queue.place is kernel.elevator.busy_rr
        assert queue.service_last == 0
        kernel.now += 5
        kernel.complete(first)
        assert queue.place is kernel.elevator.rr_lists[4]
        assert queue.service_last == kernel.now

    @pytest.mark.parametrize(("used", "over"), [(100, False), (101, True)])
    def test_a_slice_is_over_when_a_request_is_complete_too_late(
        self, used: int, *, over: bool
    ) -> None:
        kernel = cfq()
        first = kernel.add(1000)
        kernel.dispatch()
        kernel.now += used
        kernel.complete(first)
        assert (kernel.elevator.active is None) == over
        assert (kernel.timers == {}) == over

    def test_when_the_last_write_is_complete_the_next_queue_has_its_turn(self) -> None:
        kernel = cfq()
        write = kernel.add(1000, write=True)
        assert kernel.dispatch() == [1000]
        kernel.add(FAR, "b")
        kernel.complete(write)
        # nobody idles for writes
        assert kernel.timers == {}
        assert kernel.dispatch() == [FAR]


class TestFifo:
    @pytest.mark.parametrize(("age", "first"), [(125, 2000), (126, 9000)])
    def test_a_read_older_than_its_expiry_goes_first(self, age: int, first: int) -> None:
        kernel = cfq(quantum=1)
        kernel.add(9000)
        kernel.add(2000)
        kernel.now += age
        assert kernel.dispatch() == [first]

    @pytest.mark.parametrize(("age", "first"), [(250, 2000), (251, 9000)])
    def test_so_does_a_write(self, age: int, first: int) -> None:
        kernel = cfq(quantum=1)
        kernel.add(9000, write=True)
        kernel.add(2000, write=True)
        kernel.now += age
        assert kernel.dispatch() == [first]

    def test_once_a_slice(self) -> None:
        kernel = cfq(quantum=2)
        for sector in (9000, 8000, 1000, 2000):
            kernel.add(sector)
        kernel.now += 200
        # the oldest, then by sector from where the heads were before that
        assert kernel.dispatch() == [9000, 1000]
        assert kernel.dispatch() == [2000, 8000]


class TestIdling:
    def one_read(self, **tunables: int) -> tuple[Kernel, Request]:
        kernel = cfq(**tunables)
        request = kernel.add(1000)
        kernel.dispatch()
        return kernel, request

    def test_the_disk_is_kept_for_the_next_read(self) -> None:
        kernel, request = self.one_read()
        other = kernel.add(FAR, "b")
        kernel.complete(request)
        assert kernel.timers == {IDLE_SLICE: 8}
        assert kernel.dispatch() == []
        kernel.told()
        kernel.now += 3
        kernel.add(2000)
        # the read that was waited for runs the queue at once
        assert kernel.timers == {}
        assert kernel.told() == ["unplug", "run"]
        assert kernel.dispatch() == [2000]
        assert not other.started

    def test_in_vain(self) -> None:
        kernel, request = self.one_read()
        kernel.add(FAR, "b")
        kernel.complete(request)
        kernel.told()
        kernel.now += 8
        kernel.elevator.timer(IDLE_SLICE)
        # once for the slice, once for the timer
        assert kernel.told() == ["work", "work"]
        assert kernel.elevator.active is None
        assert kernel.dispatch() == [FAR]

    def test_the_timer_finds_that_nothing_waits(self) -> None:
        kernel, request = self.one_read()
        kernel.complete(request)
        kernel.told()
        kernel.elevator.timer(IDLE_SLICE)
        assert kernel.told() == []
        # and leaves the slice
        assert kernel.elevator.active is request.queue

    def test_the_timer_finds_a_read(self) -> None:
        kernel, request = self.one_read()
        kernel.complete(request)
        kernel.add(2000)
        kernel.told()
        queue = request.queue
        queue.must_dispatch = False
        kernel.elevator.timer(IDLE_SLICE)
        assert queue.must_dispatch
        assert kernel.told() == ["work"]
        assert kernel.elevator.active is queue

    def test_in_the_last_tick_of_the_slice_it_does_too(self) -> None:
        kernel, request = self.one_read()
        kernel.complete(request)
        kernel.add(2000)
        kernel.now += 100
        kernel.elevator.timer(IDLE_SLICE)
        assert kernel.elevator.active is request.queue

    def test_a_read_that_was_waited_for_is_served_though_the_slice_is_over(self) -> None:
        kernel, request = self.one_read()
        kernel.complete(request)
        kernel.add(FAR, "b")
        kernel.now += 101
        kernel.add(2000)
        assert kernel.dispatch() == [2000]

    def test_think_times_count_for_twice_slice_idle_at_most(self) -> None:
        kernel, request = self.one_read()
        kernel.complete(request)
        kernel.now += 500
        kernel.elevator.timer(IDLE_SLICE)
        history = kernel.context("a").elevator_data[kernel.elevator]
        told = history.ttime_total
        kernel.add(2000)
        assert history.ttime_total == (7 * told + 256 * 16) // 8

    def test_after_the_slice_the_timer_ends_it_though_there_is_a_read(self) -> None:
        kernel, request = self.one_read()
        kernel.complete(request)
        kernel.add(2000)
        kernel.now += 101
        kernel.elevator.timer(IDLE_SLICE)
        assert kernel.elevator.active is None

    def test_the_timer_of_no_slice_runs_the_queue(self) -> None:
        kernel = cfq()
        kernel.elevator.timer(IDLE_SLICE)
        assert kernel.told() == []
        kernel.add(1000)
        kernel.elevator.timer(IDLE_SLICE)
        assert kernel.told() == ["work"]

    def test_slice_idle_is_how_long(self) -> None:
        kernel, request = self.one_read(slice_idle=5)
        kernel.complete(request)
        assert kernel.timers == {IDLE_SLICE: 5}

    def test_without_it_the_next_queue_is_served(self) -> None:
        kernel, request = self.one_read(slice_idle=0)
        kernel.add(FAR, "b")
        kernel.complete(request)
        assert kernel.timers == {}
        assert kernel.dispatch() == [FAR]

    def test_not_longer_than_the_number_of_the_tick_at_which_the_slice_ends(self) -> None:
        # the kernel takes the lesser of a time and a duration
        kernel = Kernel("cfq", jiffies=500)
        kernel.elevator.store("slice_idle", 10**6)
        request = kernel.add(1000)
        kernel.dispatch()
        kernel.complete(request)
        assert kernel.timers == {IDLE_SLICE: 599}

    @pytest.mark.parametrize(("distance", "wait"), [(130_296, 8), (130_297, 2)])
    def test_a_process_that_seeks_is_waited_for_two_ms(self, distance: int, wait: int) -> None:
        kernel = cfq()
        place = 0
        for _ in range(3):
            place += distance
            request = kernel.add(place)
            kernel.dispatch()
            kernel.complete(request)
            place += 8
        # the mean of three in the kernel's whole numbers is 776 more than each
        assert kernel.timers == {IDLE_SLICE: wait}

    def test_of_two_seeks_nothing_follows(self) -> None:
        kernel = cfq()
        waits = []
        for place in (0, FAR, 0, FAR):
            request = kernel.add(place)
            kernel.dispatch()
            kernel.complete(request)
            waits.append(kernel.timers[IDLE_SLICE])
        # the first distance is none; more than 80 of 256 are needed: the third request has 84
        assert waits == [8, 8, 2, 2]

    def test_a_process_that_has_ended_is_not_waited_for(self) -> None:
        kernel, request = self.one_read()
        kernel.context("a").running = False
        kernel.add(FAR, "b")
        kernel.complete(request)
        assert kernel.timers == {}
        # once for its slice, once for its queue
        assert kernel.told() == ["work", "work"]
        assert kernel.dispatch() == [FAR]

    def test_nor_is_one_while_it_has_requests(self) -> None:
        kernel, request = self.one_read()
        kernel.add(2000)
        kernel.complete(request)
        assert kernel.timers == {}
        assert kernel.dispatch() == [2000]

    @pytest.mark.parametrize(("think", "waited"), [(8, True), (9, False)])
    def test_a_process_that_thinks_longer_than_slice_idle_is_not_waited_for(
        self, think: int, *, waited: bool
    ) -> None:
        kernel = cfq()
        one_after_the_other(kernel, "a", [8 * n for n in range(60)], think)
        request = kernel.add(8000)
        assert request.queue.idle_window == waited
        kernel.dispatch()
        kernel.complete(request)
        assert (IDLE_SLICE in kernel.timers) == waited

    @pytest.mark.parametrize(("tagged", "waited"), [(4, True), (5, False)])
    def test_nor_one_that_seeks_on_a_device_that_takes_more_than_four(
        self, tagged: int, *, waited: bool
    ) -> None:
        kernel = cfq(quantum=tagged)
        others = [kernel.add(8000 * n, "b") for n in range(tagged)]
        kernel.dispatch()
        for other in others:
            kernel.complete(other)
        kernel.elevator.timer(IDLE_SLICE)
        kernel.now += 200
        kernel.elevator.timer(IDLE_SLICE)
        first, *_ = [kernel.add(place) for place in (0, FAR, 1)]
        assert first.queue.idle_window == waited

    @pytest.mark.parametrize(("distance", "waited"), [(130_296, True), (130_297, False)])
    def test_which_is_to_seek_farther_than_64_mib(self, distance: int, *, waited: bool) -> None:
        kernel = cfq()
        kernel.elevator.hw_tag = True
        queues = [kernel.add(distance * n + 8 * (n - 1)).queue for n in range(1, 4)]
        assert queues[0].idle_window == waited

    def test_what_the_driver_gave_back_is_not_in_the_device(self) -> None:
        kernel = cfq(quantum=3)
        requests = [kernel.add(FAR * n) for n in range(1, 4)]
        kernel.dispatch()
        for _ in range(4):
            kernel.elevator.deactivate(requests[0])
            kernel.elevator.activate(requests[0])
        assert not kernel.elevator.hw_tag
        for request in requests:
            kernel.complete(request)
        assert kernel.elevator.rq_in_driver == 0
