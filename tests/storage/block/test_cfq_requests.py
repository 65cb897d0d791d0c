"""The requests of cfq: whose queue they are in, and what bios join; block/cfq-iosched.c."""

import pytest

from simnet.storage.block.cfq_service import IDLE_CLASS, IDLE_SLICE
from simnet.storage.block.elevator import MUST_QUEUE
from simnet.storage.block.request import Bio
from tests.storage.block.parts import cfq

FAR = 10**7


class TestRequests:
    def test_a_process_that_is_waited_for_gets_a_request_once_a_slice(self) -> None:
        kernel = cfq()
        request = kernel.add(1000)
        kernel.dispatch()
        read = kernel.bio(2000, 8, "a", write=False, sync=True)
        write = kernel.bio(2000, 8, "a", write=True, sync=True)
        other = kernel.bio(2000, 8, "b", write=False, sync=True)
        assert kernel.elevator.may_queue(read) is not MUST_QUEUE
        kernel.complete(request)
        assert kernel.elevator.may_queue(write) is not MUST_QUEUE
        assert kernel.elevator.may_queue(other) is not MUST_QUEUE
        assert kernel.elevator.may_queue(read) is MUST_QUEUE
        assert kernel.elevator.may_queue(read) is not MUST_QUEUE

    def test_processes_of_one_priority_share_a_queue_for_writes_and_none_for_reads(self) -> None:
        kernel = cfq()
        kernel.context("high", ioprio_class="be", ioprio=1)
        kernel.context("same", ioprio_class="be", ioprio=4)
        writes = {n: kernel.add(1000 + 100 * i, n, write=True).queue
                  for i, n in enumerate(("a", "b", "high", "same"))}  # fmt: skip
        reads = {n: kernel.add(5000 + 100 * i, n).queue for i, n in enumerate(writes)}
        assert writes["a"] is writes["b"] is writes["same"]
        assert writes["high"] is not writes["a"]
        assert len({*map(id, reads.values()), *map(id, writes.values())}) == 6
        assert (writes["high"].ioprio, writes["a"].ioprio) == (1, 4)
        assert repr(writes["a"]) == "<CfqQueue async>"
        assert repr(reads["high"]) == "<CfqQueue high>"
        # a process without a class of its own takes the latest
        assert kernel.add(9000, "c", write=True).queue is writes["high"]

    def test_a_queue_begins_with_two_idle_times(self) -> None:
        assert cfq().add(1000).queue.slice_left == 16
        assert cfq(slice_idle=3).add(1000).queue.slice_left == 6

    def test_the_queue_of_a_process_goes_with_its_last_request(self) -> None:
        kernel = cfq()
        first, second = kernel.add(1000), kernel.add(2000)
        kernel.dispatch()
        context = kernel.context("a")
        context.exit()
        assert kernel.elevator.active is None
        kernel.complete(first)
        assert context in kernel.elevator.queues
        kernel.complete(second)
        assert context not in kernel.elevator.queues

    def test_the_queue_of_a_process_without_requests_goes_with_it(self) -> None:
        kernel = cfq()
        request = kernel.add(1000)
        kernel.dispatch()
        kernel.complete(request)
        context = kernel.context("a")
        assert context in kernel.elevator.queues
        assert kernel.elevator.active is request.queue
        kernel.told()
        context.exit()
        assert kernel.elevator.active is None
        assert kernel.timers == {}
        assert context not in kernel.elevator.queues

    def test_the_queue_for_writes_stays(self) -> None:
        kernel = cfq()
        request = kernel.add(1000, write=True)
        kernel.dispatch()
        kernel.context("a").exit()
        kernel.complete(request)
        assert kernel.elevator.queues == {None: [request.queue]}

    def test_a_request_for_a_sector_that_one_is_for_already_lets_that_one_go(self) -> None:
        kernel = cfq()
        first = kernel.add(1000)
        kernel.add(3000)
        second = kernel.add(1000)
        assert [request.sector for request in kernel.head] == [1000]
        assert kernel.head[0] is first
        assert second.queue.dispatched == 1
        assert kernel.dispatch() == [1000, 3000]

    def test_a_queue_is_in_turn_once(self) -> None:
        kernel = cfq()
        for number in range(3):
            kernel.add(1000 * number)
        assert kernel.elevator.busy_queues == 1
        kernel.add(FAR, "b")
        assert kernel.elevator.busy_queues == 2
        assert not kernel.elevator.empty()

    def test_kblockd_lets_the_driver_have_what_there_is(self) -> None:
        kernel = cfq()
        kernel.elevator.work()
        assert kernel.told() == ["unplug", "run"]

    def test_an_end_leaves_no_timer_and_no_slice(self) -> None:
        kernel = cfq()
        request = kernel.add(1000)
        kernel.dispatch()
        kernel.complete(request)
        kernel.timers = {IDLE_SLICE: 1, IDLE_CLASS: 2}
        request.queue.wait_request = False
        kernel.elevator.shut()
        assert kernel.timers == {}
        assert kernel.elevator.active is None

    @pytest.mark.parametrize(("back", "first"), [(808, 808), (807, 1500)])
    def test_the_heads_go_back_as_far_as_they_may(self, back: int, first: int) -> None:
        # 100 KiB are 200 sectors, which count as 400
        kernel = cfq(back_seek_max=100, quantum=1)
        kernel.elevator.last_sector = 1008
        kernel.add(1500)
        kernel.add(back)
        assert kernel.dispatch() == [first]


class TestMerging:
    def test_behind_any_request_and_before_those_of_the_same_process(self) -> None:
        kernel = cfq()
        mine, others = kernel.add(1000), kernel.add(2000, "b")
        merge = kernel.elevator.merge

        def bio(sector: int, *, write: bool = False) -> Bio:
            return kernel.bio(sector, 8, "a", write=write, sync=False)

        assert merge(bio(1008)) is mine
        assert merge(bio(992)) is mine
        assert merge(bio(2008)) is others
        assert merge(bio(1992)) is None
        assert merge(bio(1008, write=True)) is None
        assert merge(bio(992, write=True)) is None
        writing = kernel.add(7000, "b", write=True)
        assert merge(bio(6992, write=True)) is writing
        mine.no_merge = True
        assert merge(bio(992)) is None

    def test_a_request_that_grew_is_found_at_its_ends(self) -> None:
        kernel = cfq()
        request, last = kernel.add(1000), kernel.add(9000)
        request.sector -= 8
        request.sectors += 16
        kernel.elevator.merged(request)
        bio = kernel.bio(1016, 8, "a", write=False, sync=False)
        assert kernel.elevator.merge(bio) is request
        bio = kernel.bio(984, 8, "a", write=False, sync=False)
        assert kernel.elevator.merge(bio) is request
        assert kernel.elevator.latter(request) is last
        assert kernel.elevator.former(last) is request
        bio = kernel.bio(1008, 8, "a", write=False, sync=False)
        assert kernel.elevator.merge(bio) is None
        assert kernel.dispatch() == [992, 9000]
        bio = kernel.bio(1016, 8, "a", write=False, sync=False)
        assert kernel.elevator.merge(bio) is None

    def test_a_swallowed_request_is_gone(self) -> None:
        kernel = cfq()
        request, following, last = (kernel.add(at) for at in (1000, 1008, 5000))
        request.sectors += 8
        kernel.elevator.merged_requests(request, following)
        assert kernel.elevator.latter(request) is last
        assert kernel.dispatch() == [1000, 5000]
        assert kernel.elevator.empty()
