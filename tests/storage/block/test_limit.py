"""The limit on a queue's requests, against get_request and freed_request of Linux 2.6.18."""

import pytest

from simnet.storage.block.request import READ, WRITE, Bio, IoContext, Request
from tests.storage.parts import MS, US, Bench


def full(nr_requests: int, requests: int, **options: int) -> Bench:
    """A queue that has so many reads of process a, and a device that does not begin."""
    bench = Bench(1000 * MS, scheduler="noop", nr_requests=nr_requests, **options)
    for number in range(requests):
        bench.submit(1000 * number)
    bench.run(US)
    return bench


@pytest.mark.parametrize(
    ("number", "on", "off"),
    # from n - n / 8 + 1 on, until it is below n - n / 8 - n / 16 - 1
    [(4, 4, 3), (8, 8, 6), (16, 15, 12), (128, 113, 103), (1000, 876, 812)],
)
def test_congestion_begins_and_ends_at_parts_of_the_limit(number: int, on: int, off: int) -> None:
    queue = Bench(nr_requests=number).queue
    assert (queue.congestion_on, queue.congestion_off) == (on, off)


class TestBatches:
    @pytest.mark.parametrize(("after_ms", "more"), [(19, True), (20, False)])
    def test_a_batch_is_for_a_fiftieth_of_a_second(self, after_ms: int, *, more: bool) -> None:
        bench = full(4, 4, hz=1000)
        bench.submit(10**6, at=after_ms * MS)
        bench.run(after_ms * MS + 1)
        # four requests are full: the fifth is of the batch
        assert bench.user.slept == ([] if more else [10**6])

    def test_a_batch_is_32_requests(self) -> None:
        bench = full(128, 127 + 32)
        assert bench.user.slept == []
        context = bench.user.context("a")
        assert context.nr_batch_requests == 0
        bench.submit(10**6, at=2 * US)
        bench.run(3 * US)
        assert bench.user.slept == [10**6]

    def test_a_whole_batch_that_nobody_has_used_does_not_grow_old(self) -> None:
        bench = full(4, 4, hz=1000)
        other = bench.user.context("b")
        other.nr_batch_requests, other.last_waited = 32, 0
        bench.submit(10**6, at=100 * MS, process="b")
        bench.run(101 * MS)
        assert bench.user.slept == []
        assert other.nr_batch_requests == 31

    def test_a_batch_begins_with_the_request_that_fills_the_queue(self) -> None:
        context = IoContext("a")
        assert (context.nr_batch_requests, context.last_waited) == (0, 0)
        bench = full(4, 3)
        mine = bench.user.context("a")
        assert mine.nr_batch_requests == 0
        assert not bench.queue.full[READ]
        bench.submit(10**6, at=2 * US)
        bench.run(3 * US)
        assert mine.nr_batch_requests == 31
        assert bench.queue.full[READ]
        assert mine.last_waited == bench.queue.jiffies()

    def test_half_as_many_again_is_the_most(self) -> None:
        bench = full(10, 30)
        assert bench.queue.count == [15, 0]
        assert bench.queue.waits == 15
        assert bench.queue.elvpriv == 15


class TestSleepers:
    def test_one_is_woken_for_each_request_that_is_free(self) -> None:
        bench = Bench(10 * MS, scheduler="noop", nr_requests=4)
        for number in range(6):
            bench.submit(1000 * number)
        for name in "bc":
            bench.submit(10**6 + ord(name), at=US, process=name, tag=name)
        bench.run(29 * MS)
        # six are under way; four may be, so the third that is complete wakes one
        assert bench.user.slept == ["b", "c"]
        assert bench.user.resumed == []
        bench.run(30 * MS)
        assert bench.user.resumed == ["b"]
        # b has a request, and so there is none for c until the next is complete
        bench.run(39 * MS)
        assert bench.user.resumed == ["b"]
        bench.run(40 * MS)
        assert bench.user.resumed == ["b", "c"]
        assert bench.queue.waits == 2

    def test_who_sleeps_lets_the_device_have_what_there_is(self) -> None:
        bench = Bench(10 * MS, scheduler="noop", nr_requests=4)
        bench.queue.unplug_threshold = 100
        for number in range(4):
            bench.submit(1000 * number)
        bench.run(US)
        assert bench.device.order == []
        bench.submit(10**6, at=2 * US, process="b")
        bench.run(3 * US)
        assert bench.device.order == [0]

    def test_a_sleeper_that_finds_no_request_sleeps_again(self) -> None:
        bench = full(4, 6)
        queue = bench.queue
        bio = Bio(10**6, 8, write=False, context=IoContext("b"))
        resumed: list[Bio] = []
        queue.wakes(bio, resumed.append)
        assert queue.waits == 1
        assert resumed == []
        # and one without anybody to tell is taken, too
        bench = full(4, 3)
        bench.queue.wakes(bio, None)
        assert bench.queue.count == [4, 0]

    def test_writers_do_not_wait_for_reads(self) -> None:
        bench = Bench(10 * MS, scheduler="noop", nr_requests=4)
        for number in range(7):
            bench.submit(1000 * number, write=True)
        bench.submit(10**6, at=US)
        bench.run(2 * US)
        queue = bench.queue
        assert queue.count == [1, 6]
        assert queue.congested == [False, True]
        assert queue.full == [False, True]
        assert [len(waiting) for waiting in queue.sleepers] == [0, 1]
        bench.run(1000 * MS)
        assert queue.count == [0, 0]
        assert queue.congested == [False, False]
        assert queue.full == [False, False]


class TestCongestion:
    def test_who_waits_for_a_direction_hears_of_it_once(self) -> None:
        bench = Bench(MS, scheduler="noop", nr_requests=8)
        heard: list[str] = []
        for number in range(8):
            bench.submit(1000 * number)
            bench.submit(10**6 + 1000 * number, write=True)
        bench.run(US)
        assert bench.queue.congested == [True, True]
        bench.queue.when_uncongested(READ, lambda: heard.append("read"))
        bench.queue.when_uncongested(WRITE, lambda: heard.append("write"))
        bench.run(5 * MS)
        # reads and writes in turn: three and three are done when six are
        assert heard == ["read"]
        bench.run(100 * MS)
        assert heard == ["read", "write"]
        for number in range(8):
            bench.submit(1000 * number, at=100 * MS)
        bench.run(200 * MS)
        assert heard == ["read", "write"]
        assert bench.queue.congested == [False, False]

    def test_a_lower_limit_is_reached_at_once(self) -> None:
        bench = full(128, 60)
        queue = bench.queue
        assert (queue.congested, queue.full) == ([False, False], [False, False])
        queue.set_nr_requests(68)
        assert queue.congestion_on == 61
        assert (queue.congested, queue.full) == ([False, False], [False, False])
        queue.set_nr_requests(67)
        assert (queue.congested, queue.full) == ([True, False], [False, False])
        queue.set_nr_requests(60)
        assert queue.full == [True, False]
        # a higher one frees it
        heard: list[int] = []
        queue.when_uncongested(READ, lambda: heard.append(1))
        queue.set_nr_requests(128)
        assert (queue.congested, queue.full) == ([False, False], [False, False])
        assert heard == [1]

    def test_four_is_the_least(self) -> None:
        bench = Bench()
        for number, kept in ((5, 5), (4, 4), (3, 4)):
            bench.queue.set_nr_requests(number)
            assert bench.queue.nr_requests == kept


class TestRequest:
    def test_it_begins_as_its_first_bio(self) -> None:
        context = IoContext("p")
        bio = Bio(40, 12, write=True, context=context, sync=True)
        request = Request(bio, 7, 9000)
        assert (request.sector, request.sectors, request.end()) == (40, 12, 52)
        # a page and a half
        assert (request.segments, bio.segments) == (2, 2)
        assert (request.rw, request.write, request.sync, request.is_sync) == (WRITE, True, True, 0)
        assert (request.start_jiffy, request.start_ps) == (7, 9000)
        assert (request.bios, request.context, request.key) == ([bio], context, 40)
        assert request.mergeable()
        for name in ("started", "no_merge", "barrier", "sorted"):
            assert getattr(request, name) is False
        assert request.elvpriv
        assert repr(request) == "<write request 40+12>"
        assert repr(bio) == "<write bio 40+12>"
        assert Request(Bio(0, 8, write=False, context=context), 0, 0).is_sync

    def test_what_the_driver_has_or_what_is_full_does_not_merge(self) -> None:
        request = Request(Bio(0, 8, write=False, context=IoContext("p")), 0, 0)
        request.started = True
        assert not request.mergeable()
        request.started, request.no_merge = False, True
        assert not request.mergeable()

    def test_a_class_has_its_own(self) -> None:
        assert IoContext("p", ioprio_class="rt", ioprio=0).priority == ("rt", 0)
        assert IoContext("p", ioprio_class="be", ioprio=7).priority == ("be", 7)
        assert IoContext("p", ioprio_class="idle", ioprio=0).priority == ("idle", 7)
        for level in (-1, 8):
            with pytest.raises(ValueError, match=f"p: ioprio {level} is not from 0 to 7"):
                IoContext("p", ioprio_class="rt", ioprio=level)
