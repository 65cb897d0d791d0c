"""The requests of the anticipatory scheduler: which is next, and what bios join."""

import pytest

from tests.storage.block.parts import anticipatory

FAR = 10**8
WRITES, READS = 0, 1


class TestRequests:
    def test_the_nearest_is_next_from_the_end_of_the_last_one(self) -> None:
        kernel = anticipatory(antic_expire=0)
        kernel.add(5000)
        kernel.dispatch()
        assert kernel.elevator.last_sector == [0, 5008]
        for sector in (9000, 4000, 6000):
            kernel.add(sector)
        # 992 ahead, 1008 back
        assert kernel.dispatch_all() == [6000, 9000, 4000]
        assert kernel.elevator.last_sector == [0, 4008]

    @pytest.mark.parametrize(("back", "goes"), [(1 << 20, True), ((1 << 20) + 1, False)])
    def test_half_a_gib_back_is_as_far_as_any(self, back: int, *, goes: bool) -> None:
        kernel = anticipatory(antic_expire=0)
        kernel.add(4 << 20)
        kernel.dispatch()
        last = kernel.elevator.last_sector[READS]
        ahead = last + (3 << 20)
        kernel.add(ahead)
        kernel.add(last - back)
        assert kernel.dispatch() == [last - back if goes else ahead]

    def test_one_for_the_same_sector_lets_the_other_go(self) -> None:
        kernel = anticipatory()
        first = kernel.add(1000)
        second = kernel.add(1000)
        assert list(kernel.head) == [first]
        assert kernel.elevator.fifo[READS][0] is second
        assert kernel.elevator.nr_dispatched == 1

    def test_bios_go_behind_any_request_and_before_a_write_by_a_reader(self) -> None:
        kernel = anticipatory()
        read, write = kernel.add(1000), kernel.add(5000, write=True)
        synced = kernel.add(9000, write=True, sync=True)
        merge = kernel.elevator.merge

        def found(sector: int, *, write: bool = False) -> object:
            return merge(kernel.bio(sector, 8, "b", write=write, sync=False))

        assert found(1008) is read
        assert found(1008, write=True) is None
        assert found(5008, write=True) is write
        # the lists are indexed the other way round
        assert found(992) is None
        assert found(4992, write=True) is None
        assert found(8992, write=True) is synced
        assert found(8992) is None
        kernel.dispatch(force=True)
        assert found(1008) is None

    def test_a_request_that_grew_is_found_at_its_new_ends(self) -> None:
        kernel = anticipatory()
        low, request = kernel.add(1000), kernel.add(5000)
        request.sector, request.sectors = 900, 4116
        kernel.elevator.merged(request)
        assert kernel.elevator.former(low) is request
        assert kernel.elevator.latter(request) is low
        bio = kernel.bio(5016, 8, "a", write=False, sync=False)
        assert kernel.elevator.merge(bio) is request
        bio = kernel.bio(5008, 8, "a", write=False, sync=False)
        assert kernel.elevator.merge(bio) is None

    def test_a_swallowed_one_gives_its_deadline_and_its_process(self) -> None:
        kernel = anticipatory()
        older = kernel.add(1008, "b")
        kernel.now += 10
        request = kernel.add(1000)
        histories = request.queue, older.queue
        kernel.add(9000)
        request.sectors += 8
        kernel.now += 3
        kernel.elevator.merged_requests(request, older)
        fifo = kernel.elevator.fifo[READS]
        assert [each.sector for each in fifo] == [1000, 9000]
        assert request.expires == kernel.now - 13 + 125
        assert (request.queue, older.queue) == histories[::-1]
        # the one that is gone was its process' last
        assert histories[0].io_running
        assert histories[0].last_end_request == kernel.now
        assert [history.nr_queued for history in histories] == [1, 1]

    def test_a_younger_one_does_not(self) -> None:
        kernel = anticipatory()
        request = kernel.add(1000)
        kernel.now += 10
        younger = kernel.add(1008, "b")
        expires, histories = request.expires, (request.queue, younger.queue)
        request.sectors += 8
        kernel.elevator.merged_requests(request, younger)
        assert request.expires == expires
        assert (request.queue, younger.queue) == histories
        assert list(kernel.elevator.fifo[READS]) == [request]
