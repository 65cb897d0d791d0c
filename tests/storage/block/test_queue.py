"""The request queue: merging, plugging, the limit on requests, and changing the scheduler."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.storage.block.diskstats import iostat
from simnet.storage.block.request import READ, WRITE, Bio, IoContext, Request
from simnet.storage.block.sort_list import MergeHash
from simnet.storage.block.switch import ELEVATORS
from tests.house.examples import examples
from tests.storage.parts import MS, US, Bench

SCHEDULERS = tuple(ELEVATORS)


def test_requests_that_cannot_grow_are_not_found_by_their_end() -> None:
    found = MergeHash()
    requests = [
        Request(Bio(sector, 8, write=False, context=IoContext("a")), 0, 0)
        for sector in (100, 100, 100, 200)
    ]
    for request in requests:
        found.add(request)
    requests[2].no_merge = True
    # the latest of those that can
    assert found.find(108) is requests[1]
    requests[2].no_merge = False
    assert found.find(108) is requests[1]
    assert found.find(208) is requests[3]
    assert found.find(100) is None


every_scheduler = pytest.mark.parametrize("scheduler", SCHEDULERS)


@every_scheduler
class TestMerging:
    def test_a_bio_that_follows_is_appended(self, scheduler: str) -> None:
        bench = Bench(scheduler=scheduler)
        bench.submit(100)
        bench.submit(108)
        assert bench.run() == [100]
        assert bench.device.sizes == [16]
        assert bench.user.finished == [100, 108]
        assert bench.queue.stats.merges == [1, 0]

    def test_a_bio_that_precedes_is_put_in_front(self, scheduler: str) -> None:
        bench = Bench(scheduler=scheduler)
        bench.submit(108)
        bench.submit(100)
        assert bench.run() == [100]
        assert bench.user.finished == [100, 108]

    def test_a_bio_that_fills_a_gap_joins_two_requests(self, scheduler: str) -> None:
        bench = Bench(scheduler=scheduler)
        bench.submit(100)
        bench.submit(116)
        bench.submit(108)
        assert bench.run() == [100]
        assert bench.device.sizes == [24]
        assert bench.user.finished == [100, 108, 116]
        counted = {"reads": 1, "writes": 0, "merges": 1, "waits": 0}
        assert bench.queue.counters() == counted
        # two of three bios lost their request, one of them by the joining of two
        assert bench.queue.stats.merges == [1, 0]
        assert bench.queue.stats.ios == [1, 0]

    def test_a_read_and_a_write_do_not_merge(self, scheduler: str) -> None:
        bench = Bench(scheduler=scheduler)
        bench.submit(100)
        bench.submit(108, write=True)
        assert sorted(bench.run()) == [100, 108]

    def test_a_request_grows_to_max_sectors(self, scheduler: str) -> None:
        bench = Bench(scheduler=scheduler, max_hw_sectors=20)
        for sector in (0, 8, 16):
            bench.submit(sector)
        bench.run()
        assert bench.device.sizes == [16, 8]

    def test_a_request_grows_to_max_segments(self, scheduler: str) -> None:
        bench = Bench(scheduler=scheduler)
        for sector in range(129):
            bench.submit(sector, 1)
        bench.run()
        assert bench.device.sizes == [128, 1]

    def test_what_the_driver_has_taken_does_not_grow(self, scheduler: str) -> None:
        bench = Bench(scheduler=scheduler)
        bench.submit(100, sync=True)
        bench.submit(108, at=US, sync=True)
        bench.run()
        assert bench.device.sizes == [8, 8]


class TestPlugging:
    def test_an_empty_queue_is_plugged_until_the_timer_runs(self) -> None:
        bench = Bench(scheduler="noop")
        bench.submit(100, at=MS)
        bench.run()
        # 3 ms are 0 jiffies of 4 ms; the kernel makes that 1: the next tick
        assert bench.user.log == [(5000, 100)]

    def test_at_a_thousand_ticks_it_takes_three(self) -> None:
        bench = Bench(scheduler="noop", hz=1000)
        bench.submit(100, at=500 * US)
        bench.run()
        assert bench.user.log == [(4000, 100)]

    def test_the_fourth_request_unplugs(self) -> None:
        bench = Bench(scheduler="noop")
        for number in range(4):
            bench.submit(1000 * number, at=number * 10 * US)
        bench.run(40 * US)
        assert bench.device.order == [0]

    def test_somebody_who_waits_unplugs(self) -> None:
        bench = Bench(scheduler="noop")
        bench.submit(100, sync=True)
        bench.run()
        assert bench.user.log == [(1000, 100)]

    def test_plugged_requests_go_out_sorted(self) -> None:
        bench = Bench(scheduler="noop", depth=8)
        for sector in (3000, 1000, 2000):
            bench.submit(sector)
        bench.run()
        # the driver takes the first as it comes: noop hands over one at a time
        assert bench.device.order == [3000, 1000, 2000]


class TestLimit:
    def test_a_process_sleeps_when_no_request_is_free(self) -> None:
        bench = Bench(scheduler="noop", nr_requests=4)
        for number in range(60):
            bench.submit(1000 * number, process="ab"[number % 2])
        bench.run()
        assert bench.user.slept
        assert bench.user.resumed == bench.user.slept
        assert sorted(bench.user.finished) == [1000 * number for number in range(60)]

    def test_the_process_that_fills_the_queue_takes_a_batch(self) -> None:
        bench = Bench(scheduler="noop")
        for number in range(300):
            bench.submit(1000 * number, process="batcher")
        bench.run(US)
        # 127, then 32 as a batcher
        assert bench.queue.count[READ] == 127 + 32
        assert len(bench.user.slept) == 300 - 159

    def test_nobody_gets_more_than_half_beyond_the_limit(self) -> None:
        bench = Bench(scheduler="noop", nr_requests=16)
        for number in range(60):
            bench.submit(1000 * number, process="batcher")
        bench.run(US)
        assert bench.queue.count[READ] == 24

    def test_another_process_sleeps_while_the_batcher_goes_on(self) -> None:
        bench = Bench(scheduler="noop")
        for number in range(128):
            bench.submit(1000 * number, process="batcher")
        bench.submit(10**6, process="other")
        bench.submit(2 * 10**6, process="batcher")
        bench.run(US)
        assert bench.user.slept == [10**6]

    def test_reads_and_writes_have_their_own(self) -> None:
        bench = Bench(scheduler="noop", nr_requests=4)
        for number in range(80):
            bench.submit(1000 * number)
        bench.submit(10**7, write=True)
        bench.run(US)
        assert bench.queue.count[WRITE] == 1

    def test_a_queue_is_congested_from_seven_eighths_to_thirteen_sixteenths(self) -> None:
        bench = Bench(scheduler="noop")
        for number in range(112):
            bench.submit(1000 * number)
        bench.run(US)
        assert not bench.queue.congested[READ]
        bench.submit(10**6, at=2 * US)
        bench.run(3 * US)
        assert bench.queue.congested[READ]
        heard: list[int] = []
        bench.queue.when_uncongested(READ, lambda: heard.append(bench.queue.count[READ]))
        bench.run()
        assert heard == [102]

    def test_nr_requests_can_be_set(self) -> None:
        bench = Bench(scheduler="noop")
        bench.queue.set_nr_requests(1)
        assert bench.queue.nr_requests == 4
        bench.queue.set_nr_requests(512)
        assert (bench.queue.congestion_on, bench.queue.congestion_off) == (449, 415)


class TestDriver:
    def test_the_device_holds_as_many_as_its_depth(self) -> None:
        bench = Bench(scheduler="noop", depth=3)
        for number in range(10):
            bench.submit(1000 * number, sync=True)
        bench.run(US)
        assert len(bench.device.waiting) == 3
        # one more has left the scheduler
        assert len(bench.queue.head) == 1

    def test_what_an_adapter_refuses_comes_again(self) -> None:
        bench = Bench(scheduler="noop", depth=8, room=2)
        for number in range(6):
            bench.submit(1000 * number, sync=True)
        bench.run()
        assert bench.device.order == [1000 * number for number in range(6)]

    @pytest.mark.parametrize(
        ("bio", "message"),
        [((0, 1032), "1024 sectors in 128"), ((10**9, 8), "beyond its"), ((0, 0), "does not fit")],
    )
    def test_a_bio_that_no_request_can_hold_is_refused(
        self, bio: tuple[int, int], message: str
    ) -> None:
        bench = Bench(scheduler="noop")
        bench.submit(*bio)
        with pytest.raises(Exception, match=message):
            bench.run()

    def test_an_io_priority_has_a_class_and_a_level(self) -> None:
        assert IoContext().priority == ("be", 4)
        with pytest.raises(ValueError, match="is not none, rt, be or idle"):
            IoContext(ioprio_class="fast")
        with pytest.raises(ValueError, match="from 0 to 7"):
            IoContext(ioprio_class="rt", ioprio=8)


@every_scheduler
class TestSwitching:
    @pytest.mark.parametrize("other", SCHEDULERS)
    def test_nothing_is_lost_when_the_scheduler_changes(self, scheduler: str, other: str) -> None:
        bench = Bench(scheduler=scheduler, depth=2)
        for number in range(40):
            bench.submit(
                number * 7919 % 1000 * 1000,
                at=number * 700 * US,
                write=number % 3 == 0,
                process="abc"[number % 3],
                tag=number,
            )
        bench.sim.run_until(5 * MS)
        bench.queue.switching.to(other)
        bench.run()
        assert sorted(bench.user.finished) == list(range(40))
        assert bench.queue.elevator.name == other
        assert bench.queue.count == [0, 0]
        assert bench.queue.elvpriv == 0
        assert not bench.queue.switching.under_way

    def test_sysfs_shows_which_one_is_in_use(self, scheduler: str) -> None:
        bench = Bench(scheduler=scheduler)
        shown = bench.queue.switching.show().split()
        assert [name.strip("[]") for name in shown] == list(SCHEDULERS)
        assert f"[{scheduler}]" in shown

    def test_an_unknown_one_is_refused(self, scheduler: str) -> None:
        with pytest.raises(ValueError, match=r"no scheduler 'deadlin': .*did you mean deadline\?"):
            Bench(scheduler=scheduler).queue.switching.to("deadlin")

    def test_a_tunable_that_it_does_not_have_is_refused(self, scheduler: str) -> None:
        elevator = Bench(scheduler=scheduler).queue.elevator
        with pytest.raises(ValueError, match=f"{scheduler} has no tunable 'quantumm'"):
            elevator.store("quantumm", 1)


LOADS = st.lists(
    st.tuples(
        st.integers(0, 120),  # sector / 8: neighbours are frequent
        st.integers(1, 4),
        st.integers(0, 60 * MS),
        st.booleans(),
        st.booleans(),
        st.sampled_from("abc"),
    ),
    max_size=60,
)


@settings(max_examples=examples(200))
@given(
    LOADS,
    st.sampled_from(SCHEDULERS),
    st.integers(1, 4),
    st.sampled_from([4, 16, 128]),
    st.sampled_from([100, 250, 1000]),
)
def test_nothing_is_lost_and_the_laws_hold(
    load: list[tuple[int, int, int, bool, bool, str]],
    scheduler: str,
    depth: int,
    nr_requests: int,
    hz: int,
) -> None:
    bench = Bench(scheduler=scheduler, depth=depth, nr_requests=nr_requests, hz=hz)
    sectors = 0
    for number, (block, blocks, at, write, sync, process) in enumerate(load):
        bench.submit(
            block * 8, blocks * 8, at=at, write=write, sync=sync, process=process, tag=number
        )
        sectors += blocks * 8
    before = bench.queue.stats.snapshot(0)
    bench.run(10**13)
    queue, stats = bench.queue, bench.queue.stats
    assert sorted(bench.user.finished) == list(range(len(load)))
    assert sum(stats.sectors) == sum(bench.device.sizes) == sectors
    assert queue.count == [0, 0]
    assert (queue.busy, queue.in_driver, queue.elvpriv, stats.in_flight) == (0, 0, 0, 0)
    # Little's law, to the picosecond
    after = stats.snapshot(10**13)
    assert after.queue_ps == sum(after.ticks_ps) + stats.merged_ps
    # the utilisation law, as iostat writes it
    row = iostat("sda", before, after)
    assert row.util / 100 == pytest.approx((row.r_s + row.w_s) * row.svctm_ms / 1000)
    assert bench.device.busy_ps <= after.busy_ps
    assert sum(stats.ios) == len(bench.device.order)


@every_scheduler
def test_the_same_twice(scheduler: str) -> None:
    def log() -> list[tuple[int, Any]]:
        bench = Bench(scheduler=scheduler, depth=4)
        for number in range(200):
            bench.submit(
                number * 7919 % 1000 * 8,
                at=number * 300 * US,
                write=number % 4 == 0,
                process="abc"[number % 3],
            )
        bench.run()
        return bench.user.log

    assert log() == log()
