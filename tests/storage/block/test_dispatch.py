"""From the scheduler to the driver: order, plugging, kblockd, refusals, completions."""

from typing import Any

import pytest

from simnet.kernel.histogram import LogHistogram
from simnet.storage.block.noop import Noop
from simnet.storage.block.request import Bio, IoContext, Request
from tests.storage.parts import MS, US, Bench


def request(sector: int, sectors: int = 8) -> Request:
    return Request(Bio(sector, sectors, write=False, context=IoContext("p")), 0, 0)


class Listener(Noop):
    """noop that notes what it is told of requests, timers and work."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench.queue)
        self.sim = bench.sim
        self.heard: list[tuple[str, int]] = []
        self.times: list[int] = []
        bench.queue.elevator = self

    def activate(self, request: Request) -> int:
        self.heard.append(("activate", request.sector))
        return 0

    def deactivate(self, request: Request) -> int:
        self.heard.append(("deactivate", request.sector))
        return 0

    def completed(self, request: Request) -> int:
        self.heard.append(("completed", request.sector))
        return 0

    def timer(self, number: int) -> int:
        self.heard.append(("timer", number))
        self.times.append(self.sim.now)
        return 0

    def work(self) -> int:
        self.times.append(self.sim.now)
        return 0


def is_plugged(bench: Bench) -> bool:
    return bench.queue.plugged


def is_changing(bench: Bench) -> bool:
    return bench.queue.switching.under_way


def test_a_queue_has_the_defaults_of_its_kernel() -> None:
    queue = Bench().queue
    assert (queue.hz, queue.jiffy_ps, queue.nr_requests, queue.depth) == (250, 4 * MS, 128, 1)
    assert (queue.max_hw_sectors, queue.max_sectors, queue.max_segments) == (1024, 1024, 128)
    assert (queue.read_ahead_kb, queue.unplug_threshold, queue.unplug_jiffies) == (128, 4, 1)
    assert queue.elevator.name == "anticipatory"
    assert Bench(max_hw_sectors=2000).queue.max_sectors == 1024
    assert Bench(max_hw_sectors=600).queue.max_sectors == 600


@pytest.mark.parametrize(("hz", "jiffies"), [(100, 1), (250, 1), (667, 2), (1000, 3), (2000, 6)])
def test_a_plug_is_for_three_ms_in_whole_ticks(hz: int, jiffies: int) -> None:
    assert Bench(hz=hz).queue.unplug_jiffies == jiffies


def test_the_clock_has_run_for_five_minutes() -> None:
    bench = Bench(hz=100)
    assert bench.queue.jiffies() == 30_000
    bench.run(19_999 * US)
    assert bench.queue.jiffies() == 30_001
    bench.run(20 * MS)
    assert bench.queue.jiffies() == 30_002


class TestOrder:
    def head(self, *sectors: int, boundary: int = 0) -> list[int]:
        queue = Bench().queue
        queue.end_sector = boundary
        for sector in sectors:
            queue.dispatch_sort(request(sector))
        return [each.sector for each in queue.head]

    def test_requests_are_sorted_one_way_from_where_the_driver_is(self) -> None:
        assert self.head(1500, 500, 1200, 800, 2000, 1000, 999, boundary=1000) == [
            *(1000, 1200, 1500, 2000, 500, 800, 999)
        ]
        assert self.head(800, 900, 100, 1500, boundary=1000) == [1500, 100, 800, 900]

    def test_of_two_at_one_place_the_first_stays_first(self) -> None:
        queue = Bench().queue
        twins = [request(700), request(700)]
        for each in twins:
            queue.dispatch_sort(each)
        assert list(queue.head) == twins

    @pytest.mark.parametrize("name", ["started", "barrier"])
    def test_nothing_is_sorted_past_what_the_driver_has_seen_or_a_barrier(self, name: str) -> None:
        queue = Bench().queue
        first = request(5000)
        setattr(first, name, True)
        for each in (first, request(3000), request(1000)):
            queue.dispatch_sort(each)
        assert [each.sector for each in queue.head] == [5000, 1000, 3000]

    def test_a_scheduler_that_orders_by_itself_is_followed(self) -> None:
        queue = Bench().queue
        for sector in (5000, 1000, 3000):
            queue.dispatch_tail(request(sector))
        assert [each.sector for each in queue.head] == [5000, 1000, 3000]
        # what is sorted afterwards is sorted from its end
        assert queue.end_sector == 3008
        queue.dispatch_sort(request(200))
        queue.dispatch_sort(request(9000))
        assert [each.sector for each in queue.head] == [5000, 9000, 200, 1000, 3000]

    def test_what_is_dispatched_is_no_longer_what_bios_merge_with_first(self) -> None:
        for dispatch in ("dispatch_sort", "dispatch_tail"):
            queue = Bench().queue
            one, other = request(100), request(500)
            queue.last_merge = one
            getattr(queue, dispatch)(other)
            assert queue.last_merge is one
            getattr(queue, dispatch)(one)
            assert queue.last_merge is None

    def test_the_driver_moves_the_boundary_with_each_request_that_it_sees(self) -> None:
        bench = Bench(scheduler="noop", depth=1)
        bench.submit(1000, sync=True)
        bench.submit(5000, sync=True)
        bench.submit(3000, sync=True)
        bench.run(US)
        # it holds the second, too
        assert bench.queue.end_sector == 5008
        assert [each.sector for each in bench.queue.head] == [5000]
        bench.run(100 * MS)
        assert bench.queue.end_sector == 3008


class TestPlug:
    def test_the_fourth_request_that_waits_unplugs(self) -> None:
        bench = Bench(100 * MS, scheduler="noop", hz=100, depth=2)
        bench.submit(0, sync=True)
        for number in range(1, 5):
            bench.submit(1000 * number, at=number * US)
        bench.run(3 * US)
        # one is in the device, and three wait
        assert bench.device.order == [0]
        assert is_plugged(bench)
        bench.run(4 * US)
        assert not is_plugged(bench)
        assert bench.device.order == [0, 1000]
        assert (bench.queue.in_driver, bench.queue.busy) == (2, 2)

    def test_writes_wait_with_reads(self) -> None:
        bench = Bench(scheduler="noop")
        for number in range(4):
            bench.submit(1000 * number, write=number % 2 == 1)
        bench.run(US)
        assert bench.device.order == [0]

    def test_kblockd_unplugs_when_the_timer_runs(self) -> None:
        bench = Bench(scheduler="noop", hz=1000)
        bench.submit(100, at=300 * US)
        bench.run(5 * MS)
        assert bench.user.log == [(3000 + 1000, 100)]
        # the next one plugs it anew
        assert not is_plugged(bench)
        bench.submit(200, at=10 * MS)
        bench.run(10 * MS + US)
        assert is_plugged(bench)
        assert bench.queue.remove_plug()
        assert not bench.queue.remove_plug()
        # and the timer is gone with the plug
        bench.run(50 * MS)
        assert bench.device.order == [100]

    def test_an_empty_queue_is_plugged_anew_each_time(self) -> None:
        bench = Bench(scheduler="noop", hz=1000)
        for number in range(4):
            bench.submit(1000 * number, at=10 * number * MS)
        bench.run(100 * MS)
        assert bench.device.taken_ms == [3, 13, 23, 33]

    def test_work_that_is_under_way_is_not_scheduled_twice(self) -> None:
        bench = Bench(scheduler="noop")
        queue = bench.queue
        listener = Listener(bench)
        queue.schedule_work()
        queue.schedule_work()
        bench.run(10 * MS)
        queue.schedule_work()
        bench.run(20 * MS)
        assert listener.times == [0, 10 * MS]

    def test_a_scheduler_sets_timers_in_ticks_and_takes_them_back(self) -> None:
        bench = Bench(scheduler="noop", hz=1000)
        queue = bench.queue
        listener = Listener(bench)
        now = queue.jiffies()
        queue.set_timer(0, now + 5)
        queue.set_timer(1, now + 3)
        queue.set_timer(0, now + 7)
        queue.set_timer(2, now + 4)
        assert queue.delete_timer(2)
        assert not queue.delete_timer(2)
        bench.run(10 * MS)
        assert listener.heard == [("timer", 1), ("timer", 0)]
        assert listener.times == [3 * MS, 7 * MS]
        assert not queue.delete_timer(1)
        # what is over is due at once
        queue.set_timer(3, now + 2)
        bench.run(11 * MS)
        assert (listener.heard[-1], listener.times[-1]) == (("timer", 3), 10 * MS)


class TestDriver:
    def test_what_is_refused_goes_back_to_the_head_and_is_a_barrier(self) -> None:
        bench = Bench(scheduler="noop", depth=8, room=1)
        for sector in (1000, 5000, 3000):
            bench.submit(sector, sync=True)
        bench.run(US)
        queue = bench.queue
        assert (queue.busy, queue.in_driver) == (1, 1)
        (held,) = queue.head
        assert (held.sector, held.started, held.no_merge, held.barrier) == (5000, False, True, True)
        assert not queue.plugged
        bench.run(100 * MS)
        assert bench.device.order == [1000, 5000, 3000]
        assert (queue.busy, queue.in_driver, queue.count) == (0, 0, [0, 0])

    def test_refused_by_an_idle_device_it_is_tried_again_when_the_plug_goes(self) -> None:
        bench = Bench(scheduler="noop", depth=8, room=0, hz=1000)
        bench.submit(1000, sync=True)
        bench.run(US)
        assert is_plugged(bench)
        bench.device.room = 1
        bench.run(100 * MS)
        assert bench.user.log == [(3000 + 1000, 1000)]

    def test_a_scheduler_hears_when_the_driver_has_it_and_gives_it_back(self) -> None:
        bench = Bench(scheduler="noop", depth=8, room=1)
        listener = Listener(bench)
        for sector in (1000, 5000):
            bench.submit(sector, sync=True)
        bench.run(10 * MS)
        assert listener.heard == [
            *(("activate", 1000), ("activate", 5000), ("deactivate", 5000), ("completed", 1000)),
            *(("activate", 5000), ("completed", 5000)),
        ]

    def test_a_completion_is_counted_and_timed_before_the_submitter_hears(self) -> None:
        bench = Bench(2 * MS, scheduler="noop")
        queue = bench.queue
        queue.times = LogHistogram()
        order: list[str] = []
        queue.run_starved = lambda: order.append(f"others, {queue.busy} in the device")
        seen: list[tuple[int, int, int]] = []
        bio = Bio(
            64,
            8,
            write=False,
            context=IoContext("p"),
            sync=True,
            done=lambda _: seen.append((queue.count[0], queue.stats.ios[0], queue.in_driver)),
        )
        bench.run(MS)
        queue.submit(bio)
        queue.submit(Bio(800, 8, write=False, context=IoContext("q"), sync=True))
        bench.run(3 * MS)
        # the other one has begun
        assert seen == [(1, 1, 1)]
        assert order == ["others, 0 in the device"]
        assert queue.times.count == 1
        assert queue.times.largest == 2 * MS
        assert queue.waiting_for() == "the device"
        bench.run(10 * MS)
        assert queue.waiting_for() is None
        assert queue.counters() == {"reads": 2, "writes": 0, "merges": 0, "waits": 0}

    def test_the_plug_goes_with_a_completion(self) -> None:
        bench = Bench(MS, scheduler="noop", hz=100)
        bench.submit(0, sync=True)
        bench.submit(1000, at=US)
        bench.run(500 * US)
        assert is_plugged(bench)
        bench.run(MS)
        assert bench.device.order == [0, 1000]

    @pytest.mark.parametrize(
        ("sector", "sectors", "fits"),
        [(0, 64, True), (0, 65, False), (92, 8, True), (93, 8, False), (-1, 8, False)],
    )
    def test_a_bio_has_to_fit_into_a_request_and_the_device(
        self, sector: int, sectors: int, *, fits: bool
    ) -> None:
        bench = Bench(scheduler="noop", max_hw_sectors=64)
        bench.device.sectors = 100
        bio = Bio(sector, sectors, write=False, context=IoContext("p"))
        if fits:
            assert bench.queue.submit(bio)
        else:
            with pytest.raises(ValueError, match=r"does not fit|is beyond its 100 sectors"):
                bench.queue.submit(bio)
            assert bench.queue.count == [0, 0]


def test_what_bypasses_a_scheduler_that_changes_is_in_order_of_arrival() -> None:
    bench = Bench(10 * MS, scheduler="cfq", hz=1000)
    for number, sector in enumerate((9000, 3000, 6000)):
        bench.submit(sector, sync=True, process="abc"[number])
    bench.run(MS)
    bench.queue.switching.to("noop")
    assert is_changing(bench)
    for sector in (5000, 1000):
        bench.submit(sector, at=2 * MS, sync=True)
    bench.run(3 * MS)
    late = list(bench.queue.head)[-2:]
    assert [(each.elvpriv, each.no_merge, each.barrier) for each in late] == [
        (False, True, True)
    ] * 2
    bench.run(15 * MS)
    # it is looked at every ten ms, and a tick more
    assert is_changing(bench)
    bench.run(1000 * MS)
    assert bench.device.order[-2:] == [5000, 1000]
    assert bench.queue.elevator.name == "noop"


def test_several_changes_are_made_one_after_the_other() -> None:
    bench = Bench(10 * MS, scheduler="noop", hz=1000)
    bench.submit(1000, sync=True)
    bench.run(MS)
    queue: Any = bench.queue
    switching = queue.switching
    queue.last_merge = request(50)
    for name in ("deadline", "deadline", "cfq", "cfq"):
        switching.to(name)
    names = []
    for time_ps in (MS, 12 * MS - 1, 12 * MS):
        bench.run(time_ps)
        names.append(queue.elevator.name)
    # at 1 ms it sleeps ten ticks and one more, and finds nothing
    assert names == ["noop", "noop", "cfq"]
    assert switching.wanted == []
    assert not switching.under_way
    assert queue.last_merge is None
    assert switching.show() == "noop anticipatory deadline [cfq]"
