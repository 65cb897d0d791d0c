"""cfq step by step against block/cfq-iosched.c of Linux 2.6.18: whose turn it is, and requests."""

import pytest

from simnet.storage.block.cfq_service import IDLE_CLASS, IDLE_SLICE
from simnet.storage.block.request import Request
from tests.storage.block.parts import Kernel, cfq, one_after_the_other

FAR = 10**7


class TestTurns:
    def turns(self, kernel: Kernel, requests: list[Request]) -> list[Request]:
        """Let each be served, and idled for in vain; return them in the order of service."""
        given = []
        for _ in requests:
            kernel.now += 8
            kernel.elevator.timer(IDLE_SLICE)
            (sector,) = kernel.dispatch()
            given += [request for request in requests if request.sector == sector]
            kernel.complete(given[-1])
        return given

    def test_who_was_served_longest_ago_is_next(self) -> None:
        kernel = cfq()
        self.turns(kernel, [kernel.add(1000 * n, name) for n, name in enumerate("xyzw")])
        z, x, y = (kernel.add(9000 + 1000 * n, name) for n, name in enumerate("zxy"))
        assert self.turns(kernel, [z, x, y]) == [x, y, z]

    @pytest.mark.parametrize("order", ["xnm", "nxm", "nmx"])
    def test_before_them_go_those_who_never_were_in_the_order_of_their_coming(
        self, order: str
    ) -> None:
        kernel = cfq()
        self.turns(kernel, [kernel.add(1000 * n, name) for n, name in enumerate("xw")])
        added = {name: kernel.add(9000 + ord(name), name) for name in order}
        assert self.turns(kernel, list(added.values())) == [added[name] for name in "nmx"]

    def test_of_two_that_were_served_at_once_the_later_to_come_is_first(self) -> None:
        kernel = cfq()
        x, y = (kernel.add(1000 * n, name) for n, name in enumerate("xy", 1))
        x.queue.service_last = y.queue.service_last = kernel.now
        kernel.dispatch(force=True)
        kernel.complete(x)
        kernel.complete(y)
        assert kernel.elevator.busy_queues == 0
        for sector, name in ((3000, "x"), (4000, "y")):
            kernel.add(sector, name)
        assert kernel.dispatch() == [4000]

    def test_the_first_turn_is_the_highest_levels(self) -> None:
        kernel = cfq()
        for level, sector in ((7, 1000), (0, 2000)):
            kernel.context(f"{level}", ioprio_class="be", ioprio=level)
            kernel.add(sector, f"{level}")
        assert kernel.dispatch() == [2000]

    def test_who_has_requests_in_the_device_comes_after_those_who_have_none(self) -> None:
        kernel = cfq(quantum=1, slice_idle=0)
        first = kernel.add(1000, "a")
        kernel.add(2000, "a")
        for name in "bc":
            kernel.add(FAR + ord(name), name)
        order = []
        for _ in range(4):
            order += kernel.dispatch()
            kernel.now += 200
        assert order == [1000, FAR + ord("b"), FAR + ord("c"), 2000]
        assert first.queue.dispatched == 2

    def test_real_time_before_best_effort_before_idle(self) -> None:
        kernel = cfq(slice_idle=0)
        kernel.context("idle", ioprio_class="idle")
        kernel.context("high", ioprio_class="be", ioprio=0)
        kernel.context("low", ioprio_class="be", ioprio=7)
        kernel.context("rt", ioprio_class="rt", ioprio=7)
        one_after_the_other(kernel, "a", [500])
        for number, name in enumerate(("idle", "low", "high", "rt"), 1):
            kernel.add(1000 * number, name)
        assert kernel.dispatch() == [4000, 3000, 2000]
        # idle waits a tenth of a second
        assert kernel.dispatch() == []
        assert kernel.timers == {IDLE_CLASS: 100}
        kernel.now += 99
        assert kernel.dispatch() == []
        assert kernel.timers == {IDLE_CLASS: 1}
        kernel.now += 1
        kernel.told()
        kernel.elevator.timer(IDLE_CLASS)
        assert kernel.told() == ["work"]
        assert kernel.dispatch() == [1000]

    def test_the_timer_of_the_idle_class_looks_again(self) -> None:
        kernel = cfq(slice_idle=0)
        kernel.context("idle", ioprio_class="idle")
        one_after_the_other(kernel, "a", [1000])
        kernel.add(FAR, "idle")
        kernel.told()
        kernel.now += 60
        kernel.elevator.timer(IDLE_CLASS)
        assert kernel.timers == {IDLE_CLASS: 40}
        assert kernel.told() == []

    def test_idle_requests_do_not_count_as_the_others(self) -> None:
        kernel = cfq()
        kernel.context("idle", ioprio_class="idle")
        requests = [kernel.add(FAR * n, "idle") for n in (1, 2, 3)]
        # one at a time, and its slice is over
        assert kernel.dispatch() == [FAR]
        kernel.now += 50
        kernel.complete(requests[0])
        assert kernel.dispatch() == [2 * FAR]
        assert kernel.timers == {}

    def test_an_idle_queue_gives_way_at_once(self) -> None:
        kernel = cfq()
        kernel.context("idle", ioprio_class="idle")
        requests = [kernel.add(FAR * n, "idle") for n in (1, 2)]
        kernel.dispatch()
        queue = requests[0].queue
        # as if it had a slice
        kernel.elevator.active = queue
        kernel.told()
        kernel.add(1000, "a")
        assert kernel.told() == ["unplug", "run"]
        assert kernel.dispatch() == [1000]

    def test_forced_it_gives_all_and_no_slice_remains(self) -> None:
        kernel = cfq()
        kernel.context("idle", ioprio_class="idle")
        kernel.context("rt", ioprio_class="rt")
        kernel.context("low", ioprio_class="be", ioprio=6)
        for number in range(3):
            for at, name in enumerate(("a", "idle", "rt", "low")):
                kernel.add(10_000 * at + 1000 * number, name)
            kernel.add(FAR + 1000 * number, write=True)
        busy = kernel.add(50_000, "b")
        kernel.dispatch()
        given = kernel.dispatch(force=True)
        assert len(given) == 16 - 3
        assert kernel.elevator.active is None
        assert sorted(given)[-3:] == [FAR, FAR + 1000, FAR + 2000]
        assert kernel.elevator.active is None
        assert kernel.elevator.empty()
        assert kernel.dispatch() == []
        assert busy.queue.place is None


class TestPreemption:
    def writing(self) -> tuple[Kernel, list[Request]]:
        """A process whose read was waited for, and then writes of others in their slice."""
        kernel = cfq()
        request = kernel.add(1000)
        kernel.dispatch()
        kernel.complete(request)
        writes = [kernel.add(FAR + 1000 * n, "w", write=True) for n in range(30)]
        return kernel, [request, *writes]

    def test_a_write_ends_the_wait_of_its_own_process(self) -> None:
        kernel = cfq()
        request = kernel.add(1000)
        kernel.dispatch()
        kernel.complete(request)
        assert kernel.timers == {IDLE_SLICE: 8}
        kernel.told()
        kernel.add(FAR, write=True)
        assert kernel.timers == {}
        assert kernel.told() == ["work", "unplug", "run"]
        assert kernel.dispatch() == [FAR]

    def test_a_write_of_another_does_not(self) -> None:
        kernel, _ = self.writing()
        assert kernel.timers == {IDLE_SLICE: 8}
        assert kernel.dispatch() == []

    @pytest.mark.parametrize(
        ("wait", "left", "preempts"),
        [(True, 8, True), (True, 7, False), (False, 100, False), (True, 100, True)],
    )
    def test_a_read_that_was_waited_for_goes_before_writes(
        self, left: int, *, wait: bool, preempts: bool
    ) -> None:
        kernel, (request, *writes) = self.writing()
        kernel.now += 8
        kernel.elevator.timer(IDLE_SLICE)
        assert kernel.dispatch() == [FAR + 1000 * n for n in range(4)]
        queue = request.queue
        queue.wait_request, queue.slice_left = wait, left
        kernel.told()
        kernel.add(2000)
        assert kernel.told() == (["unplug", "run"] if preempts else [])
        assert kernel.dispatch()[0] == (2000 if preempts else FAR + 4000)
        # what was left of the slice is used up
        assert queue.slice_left == (0 if preempts else left)
        assert writes[0].queue.service_last == 0

    def test_who_gives_way_keeps_what_is_left_of_its_slice(self) -> None:
        kernel, (request, *writes) = self.writing()
        kernel.now += 8
        kernel.elevator.timer(IDLE_SLICE)
        kernel.dispatch()
        for write in writes[:4]:
            kernel.complete(write)
        kernel.now += 10
        request.queue.wait_request, request.queue.slice_left = True, 100
        kernel.add(2000)
        queue = writes[0].queue
        # of 40 ms; and it was served last when its requests were complete
        assert (queue.slice_left, queue.service_last) == (30, kernel.now - 10)
        assert kernel.elevator.dispatch_slice == 0
        assert kernel.elevator.active_context is None
        assert request.queue.must_dispatch

    def test_a_read_does_not_go_before_reads_that_all_are_complete(self) -> None:
        kernel = cfq()
        request = kernel.add(1000)
        kernel.dispatch()
        kernel.complete(request)
        other = kernel.add(FAR, "b")
        kernel.now += 8
        kernel.elevator.timer(IDLE_SLICE)
        kernel.dispatch()
        kernel.complete(other)
        active = kernel.elevator.active
        assert active is other.queue
        request.queue.wait_request, request.queue.slice_left = True, 100
        kernel.add(2000)
        assert kernel.elevator.active is active

    def test_a_read_does_not_go_before_reads(self) -> None:
        kernel = cfq()
        request = kernel.add(1000)
        kernel.dispatch()
        kernel.complete(request)
        kernel.elevator.timer(IDLE_SLICE)
        kernel.now += 200
        kernel.elevator.timer(IDLE_SLICE)
        for number in range(8):
            kernel.add(FAR + 1000 * number, "b")
        kernel.dispatch()
        request.queue.wait_request, request.queue.slice_left = True, 100
        kernel.add(2000)
        assert kernel.dispatch()[0] == FAR + 4000

    def test_those_of_this_round_wait_again(self) -> None:
        kernel, (request, *writes) = self.writing()
        others = [kernel.add(5000 + 1000 * n, name) for n, name in enumerate("xy")]
        kernel.now += 8
        kernel.elevator.timer(IDLE_SLICE)
        for other in others:
            other.queue.service_last = kernel.now + 1
        kernel.dispatch()
        elevator, queues = kernel.elevator, [other.queue for other in others]
        assert elevator.cur_rr == [writes[0].queue, *queues]
        request.queue.wait_request, request.queue.slice_left = True, 100
        kernel.add(2000)
        # before the last one of their list, which is the read's
        assert elevator.cur_rr == []
        assert elevator.rr_lists[4] == [*queues, request.queue]
        assert elevator.busy_rr == [writes[0].queue]
        assert elevator.active is request.queue
