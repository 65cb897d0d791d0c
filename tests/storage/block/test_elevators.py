"""The schedulers against request orders worked out by hand from the kernel's source."""

from itertools import groupby
from typing import Any

import pytest

from simnet.storage.block.cfq import Cfq
from simnet.storage.block.cfq_queue import CfqQueue
from simnet.storage.block.elevator import nearer
from simnet.storage.block.request import Bio, IoContext, Request
from simnet.storage.block.sort_list import MergeHash
from simnet.storage.block.switch import ELEVATORS
from tests.storage.parts import MS, US, Bench


def behind_a_busy_device(bench: Bench) -> None:
    """Keep the device busy for a while; the driver holds one more request than the device."""
    bench.submit(1, 1, sync=True, tag="busy")
    bench.submit(3, 1, sync=True, tag="held")


class TestNearer:
    """`as_choose_req` and `cfq_choose_req`: heads at 1000, up to 400 back, which counts twice."""

    @pytest.mark.parametrize(
        ("one", "other", "chosen"),
        [
            (1000, 1001, 1000),
            (1000, 500, 1000),
            (500, 1000, 1000),
            # back by 100 is as far as ahead by 200: then ahead
            (1200, 900, 1200),
            (900, 1200, 1200),
            (1201, 900, 900),
            (1199, 900, 1199),
            # 400 back may be, 401 is as far as any; of two such the lower
            (600, 5000, 600),
            (599, 5000, 5000),
            (5000, 599, 5000),
            (599, 300, 300),
            (300, 599, 300),
        ],
    )
    def test_ahead_is_cheaper(self, one: int, other: int, chosen: int) -> None:
        context = IoContext("p")
        first, second = (
            Request(Bio(at, 8, write=False, context=context), 0, 0) for at in (one, other)
        )
        assert nearer(first, second, 1000, 400, 2).sector == chosen


def test_what_cannot_grow_is_not_found_for_merging() -> None:
    found = MergeHash()
    context = IoContext("p")
    requests = [Request(Bio(100, 8, write=False, context=context), 0, 0) for _ in range(3)]
    for request in requests:
        found.add(request)
    assert found.find(108) is requests[2]
    assert found.find(107) is None
    requests[2].started = True
    requests[1].no_merge = True
    assert found.find(108) is requests[0]
    found.remove(requests[0])
    assert found.find(108) is None
    # it was dropped on the way, and may be taken out again
    found.remove(requests[2])


class TestNoop:
    def test_first_come_first_served(self) -> None:
        bench = Bench(scheduler="noop")
        behind_a_busy_device(bench)
        for sector in (5000, 1000, 3000):
            bench.submit(sector)
        assert bench.run() == [1, 3, 5000, 1000, 3000]


class TestDeadline:
    def test_reads_go_in_the_order_of_sectors(self) -> None:
        bench = Bench(scheduler="deadline")
        behind_a_busy_device(bench)
        for sector in (5000, 1000, 3000):
            bench.submit(sector)
        # after sector 3 nothing was next, so the oldest; then upwards; then the oldest again
        assert bench.run() == [1, 3, 5000, 1000, 3000]

    def test_from_where_it_was_it_goes_on_upwards(self) -> None:
        bench = Bench(scheduler="deadline")
        behind_a_busy_device(bench)
        for sector in (1000, 5000, 500, 3000):
            bench.submit(sector)
        # 1000 is the oldest, 3000 and 5000 follow by sector, 500 is what remains
        assert bench.run() == [1, 3, 1000, 3000, 5000, 500]

    def test_writes_wait_for_two_batches_of_reads(self) -> None:
        bench = Bench(scheduler="deadline")
        behind_a_busy_device(bench)
        for number in range(5):
            bench.submit(1000 + 100 * number)
            bench.submit(10_000 + 100 * number, write=True)
        # a batch ends with the first request that does not follow: 2 reads to a write
        assert bench.run() == [
            *(1, 3, 1000, 1100, 10_000, 1200, 1300, 10_100, 1400),
            *(10_200, 10_300, 10_400),
        ]

    def test_a_batch_goes_on_while_requests_follow_each_other(self) -> None:
        bench = Bench(scheduler="deadline", max_hw_sectors=8)
        behind_a_busy_device(bench)
        bench.submit(10_000, write=True)
        for number in range(6):
            bench.submit(1000 + 8 * number)
        bench.submit(5000)
        bench.submit(7000)
        # 1000 to 1040 are one batch, 5000 is the second; then the write
        assert bench.run() == [1, 3, *(1000 + 8 * n for n in range(6)), 5000, 10_000, 7000]

    def test_it_goes_on_behind_a_request_that_has_become_part_of_another(self) -> None:
        bench = Bench(scheduler="deadline")
        behind_a_busy_device(bench)
        # when 1000 goes 2000 is next; 1992 and 1984 grow into it before that has gone, too
        for sector in (1000, 2000, 5000):
            bench.submit(sector)
        for sector in (1984, 1992):
            bench.submit(sector, at=1500 * US)
        bench.run()
        assert list(zip(bench.device.order, bench.device.sizes, strict=True)) == [
            *((1, 1), (3, 1), (1000, 8), (5000, 8), (1984, 24))
        ]

    def test_fifo_batch_ends_it(self) -> None:
        bench = Bench(scheduler="deadline", max_hw_sectors=8)
        bench.queue.elevator.store("fifo_batch", 2)
        behind_a_busy_device(bench)
        bench.submit(10_000, write=True)
        for number in range(6):
            bench.submit(1000 + 8 * number)
        # batches of two: 1000, 1008 and 1016, 1024
        reads = [1000 + 8 * number for number in range(6)]
        assert bench.run() == [1, 3, *reads[:4], 10_000, *reads[4:]]

    def test_a_read_that_is_older_than_read_expire_goes_first(self) -> None:
        def order(expire_ms: int) -> list[int]:
            bench = Bench(100 * MS, scheduler="deadline")
            bench.queue.elevator.store("read_expire", expire_ms)
            behind_a_busy_device(bench)
            bench.submit(5000)
            bench.submit(1000)
            for number in range(6):
                bench.submit(6000 + 1000 * number, at=number * MS)
            return bench.run()

        upwards = [6000 + 1000 * number for number in range(6)]
        assert order(10_000) == [1, 3, 5000, *upwards, 1000]
        # one is chosen every 100 ms, at 100 ms the first: 1000 is older than 300 ms at 400 ms
        assert order(300) == [1, 3, 5000, 6000, 7000, 1000, *upwards[2:]]

    def test_writes_starved_can_be_set(self) -> None:
        bench = Bench(scheduler="deadline")
        bench.queue.elevator.store("writes_starved", 0)
        behind_a_busy_device(bench)
        bench.submit(1000)
        bench.submit(10_000, write=True)
        assert bench.run() == [1, 3, 10_000, 1000]

    def test_front_merges_can_be_turned_off(self) -> None:
        def sizes(front_merges: int) -> list[int]:
            bench = Bench(scheduler="deadline")
            bench.queue.elevator.store("front_merges", front_merges)
            behind_a_busy_device(bench)
            # the request that the queue touched last merges anyway: that is not 1000
            bench.submit(5000)
            bench.submit(1000)
            bench.submit(992, at=US)
            bench.run()
            return sorted(bench.device.sizes)

        assert sizes(1) == [1, 1, 8, 16]
        assert sizes(0) == [1, 1, 8, 8, 8]


FAR = 10**8


class TestAnticipatory:
    def test_hit_the_disk_waits_for_the_next_read_of_the_process(self) -> None:
        bench = Bench(scheduler="anticipatory", hz=1000)
        near = bench.reader("near", [1000, 1008], think_ps=2 * MS)
        far = bench.reader("far", [FAR], at=500 * US)
        assert bench.run() == [1000, 1008, FAR]
        # idle from 1 to 3 ms for the hit; then 6 ms, in vain
        assert near.log == [(1000, 1000), (4000, 1008)]
        assert far.log == [(11_000, FAR)]

    def test_miss_it_gives_up_when_antic_expire_is_over(self) -> None:
        bench = Bench(scheduler="anticipatory", hz=1000)
        bench.reader("near", [1000])
        far = bench.reader("far", [FAR], at=500 * US)
        bench.run()
        assert far.log == [(8000, FAR)]

    def test_at_250_ticks_it_waits_for_one(self) -> None:
        bench = Bench(scheduler="anticipatory")
        bench.reader("near", [1000])
        far = bench.reader("far", [FAR], at=500 * US)
        bench.run()
        # complete at 1 ms, in jiffy 0; the timer runs with jiffy 1
        assert far.log == [(5000, FAR)]

    def test_turned_off_nobody_waits(self) -> None:
        bench = Bench(scheduler="anticipatory", hz=1000)
        bench.queue.elevator.store("antic_expire", 0)
        bench.reader("near", [1000, 1008], think_ps=2 * MS)
        far = bench.reader("far", [FAR], at=500 * US)
        assert bench.run() == [1000, FAR, 1008]
        assert far.log == [(2000, FAR)]

    def test_a_near_read_of_another_process_is_taken_at_once(self) -> None:
        bench = Bench(scheduler="anticipatory", hz=1000)
        bench.reader("one", [1000])
        other = bench.reader("other", [9000], at=500 * US)
        bench.run()
        assert other.log == [(2000, 9000)]

    def test_a_process_that_thinks_too_long_is_not_waited_for(self) -> None:
        bench = Bench(scheduler="anticipatory", hz=1000)
        bench.reader("slow", range(1000, 1800, 8), think_ps=15 * MS)
        far = bench.reader("far", range(FAR, FAR + 80_000, 10_000), at=500 * US, think_ps=20 * MS)
        bench.run()
        submitted = [500, *(end + 20_000 for end, _ in far.log)]
        waits = [end - begin for begin, (end, _) in zip(submitted, far.log, strict=False)]
        # once 6 ms after the first read; afterwards no longer than a read that is under way
        assert waits[0] == 7500
        assert max(waits[1:]) <= 2000

    def test_a_process_that_has_ended_is_found_out(self) -> None:
        bench = Bench(scheduler="anticipatory", hz=1000)
        waits = []
        for number in range(12):
            start = number * 50 * MS
            short = bench.reader(f"short{number}", [1000 + number * 1000], at=start)
            far = bench.reader(f"far{number}", [FAR * (number % 7 + 1)], at=start + 500 * US)
            bench.run(start + 1500 * US)
            short.context.exit()
            bench.run(start + 40 * MS)
            far.context.exit()
            waits.append(far.log[0][0] * US - start)
        assert waits[0] == 8 * MS
        # the probability that a process ends without a near read of another one has passed a half
        assert waits[-1] == 2 * MS

    def test_reads_go_before_a_write_until_their_batch_is_over(self) -> None:
        bench = Bench(scheduler="anticipatory", hz=1000)
        reader = bench.reader("reader", range(0, 8 * 1000, 8))
        bench.submit(FAR, at=10 * MS + 1, write=True, sync=False, tag="write")
        bench.run(2000 * MS)
        (written,) = [time for time, tag in bench.user.log if tag == "write"]
        # before the write came the batch was prolonged with every read
        assert written == pytest.approx(510_000, abs=5000)
        assert len(reader.log) == 1000

    def test_a_batch_of_writes_is_as_long_as_it_may_be(self) -> None:
        bench = Bench(scheduler="anticipatory", hz=1000)
        bench.reader("reader", range(0, 8 * 2000, 8))
        for number in range(80):
            bench.submit(FAR + 1000 * number, at=10 * MS + 1, write=True)
        text = "".join("w" if sector >= FAR else "r" for sector in bench.run(1300 * MS))
        batches = [len(run) for run in text.split("r") if run]
        # It starts with 125 jiffies / 10 = 12, and has doubled it when the first read was complete:
        # no write took any time before that. 24 take 24 ms of 125, so the next may be 48.
        assert batches == [24, 48]

    def test_it_goes_to_the_nearest_ahead_and_backwards_at_twice_the_price(self) -> None:
        bench = Bench(scheduler="anticipatory")
        bench.queue.elevator.store("antic_expire", 0)
        bench.submit(50_000, sync=True)
        bench.submit(49_000, sync=True)
        for sector in (55_000, 47_000, 30_000, 52_500):
            bench.submit(sector)
        # from 49,008: ahead 3,492 and 5,992, back 2,008 and 19,008, which count twice
        assert bench.run() == [50_000, 49_000, 52_500, 55_000, 47_000, 30_000]


class TestCfq:
    def test_processes_take_turns_in_slices(self) -> None:
        bench = Bench(10 * MS, scheduler="cfq", hz=1000)
        for number in range(30):
            bench.submit(number * 1000, process="a")
            bench.submit(FAR + number * 1000, process="b")
        turns = ["a" if sector < FAR else "b" for sector in bench.run()]
        # a gets 2 at 0 ms, when the queue is unplugged, and 4 each at 10, 50, 90 ms; at 130 its
        # 100 ms are over. b gets 4 at 130, 170, 210; and so on until there are no more.
        runs = [(name, len(list(run))) for name, run in groupby(turns)]
        assert runs == [("a", 14), ("b", 12), ("a", 12), ("b", 12), ("a", 4), ("b", 6)]

    def test_who_was_served_longest_ago_goes_first(self) -> None:
        bench = Bench(scheduler="cfq", hz=1000)
        bench.queue.elevator.store("slice_idle", 0)
        bench.submit(1000, sync=True, process="x")
        bench.submit(2000, at=5 * MS, sync=True, process="y")
        for number in range(30):
            bench.submit(FAR + number * 1000, at=10 * MS, sync=True, process="z")
        bench.submit(2010, at=12 * MS, sync=True, process="y")
        bench.submit(1010, at=13 * MS, sync=True, process="x")
        order = bench.run()
        assert order.index(1010) < order.index(2010)

    def test_within_a_slice_it_goes_by_sector(self) -> None:
        bench = Bench(scheduler="cfq", hz=1000)
        behind_a_busy_device(bench)
        for sector in (5000, 1000, 3000):
            bench.submit(sector)
        assert bench.run() == [1, 3, 1000, 3000, 5000]

    def test_it_idles_for_the_next_read_of_the_process(self) -> None:
        def order(slice_idle_ms: int) -> list[int]:
            bench = Bench(scheduler="cfq", hz=1000)
            bench.queue.elevator.store("slice_idle", slice_idle_ms)
            bench.reader("near", [1000, 1008, 1016], think_ps=2 * MS)
            bench.reader("far", [FAR], at=500 * US)
            return bench.run()

        assert order(8) == [1000, 1008, 1016, FAR]
        assert order(0) == [1000, FAR, 1008, 1016]

    def test_it_gives_up_after_slice_idle(self) -> None:
        bench = Bench(scheduler="cfq", hz=1000)
        bench.reader("near", [1000])
        far = bench.reader("far", [FAR], at=500 * US)
        bench.run()
        # 1 ms, 8 ms idle, 1 ms
        assert far.log == [(10_000, FAR)]

    def test_a_slice_ends_though_the_process_has_more(self) -> None:
        bench = Bench(scheduler="cfq", hz=1000)
        near = bench.reader("near", range(1000, 9000, 8), think_ps=MS)
        far = bench.reader("far", [FAR], at=500 * US)
        bench.run(300 * MS)
        # 2 ms a read: fifty of them fit into the slice
        before = [time for time, _ in near.log if time < far.log[0][0]]
        assert len(before) == pytest.approx(51, abs=1)

    @pytest.mark.parametrize(("reads", "end_us"), [(2, 31_000), (3, 44_500)])
    def test_a_process_that_thinks_longer_than_slice_idle_is_not_waited_for_after_three_reads(
        self, reads: int, end_us: int
    ) -> None:
        bench = Bench(scheduler="cfq", hz=1000)
        # a read every 21 ms, the think time counts as 16 ms at most
        bench.reader("slow", range(1000, 1800, 8), think_ps=20 * MS)
        far = bench.reader("far", [FAR], at=21 * (reads - 1) * MS + 1500 * US)
        bench.run()
        # means of 4, 10 and 12 jiffies, but more than 80 / 256 of a sample are asked for
        assert far.log == [(end_us, FAR)]

    def test_writes_of_all_processes_share_a_queue_and_a_short_slice(self) -> None:
        bench = Bench(MS, scheduler="cfq", hz=1000)
        bench.reader("reader", range(0, 80_000, 8))
        for number in range(80):
            bench.submit(FAR + number * 1000, at=MS, write=True, process="ab"[number % 2])
        text = "".join("w" if sector >= FAR else "r" for sector in bench.run(1000 * MS))
        # at most 2 (2 + 2 (7 - 4)) = 16 writes at a time
        assert [len(run) for run in text.split("r") if run] == [16] * 5

    def test_a_read_that_is_too_old_goes_first_in_the_next_slice(self) -> None:
        def position(expire_ms: int) -> int:
            bench = Bench(20 * MS, scheduler="cfq", hz=1000)
            bench.queue.elevator.store("fifo_expire_sync", expire_ms)
            bench.queue.elevator.store("slice_sync", 60)
            bench.submit(FAR, sync=True)
            bench.submit(FAR + 10, sync=True)
            bench.submit(5)
            for number in range(20):
                bench.submit(FAR + 1000 + number * 1000)
            return bench.run().index(5)

        assert position(10_000) == 22
        # Four more are dispatched at 20 ms, when it is too young. At 100 ms a slice begins: it is
        # taken first, with three others, behind which the dispatch queue sorts it.
        assert position(40) == 9

    def test_priorities_decide_the_length_of_a_slice(self) -> None:
        def first_turn(level: int) -> int:
            bench = Bench(10 * MS, scheduler="cfq", hz=1000)
            for name in "ab":
                bench.user.contexts[name] = IoContext(name, ioprio_class="be", ioprio=level)
            for number in range(40):
                bench.submit(number * 1000, process="a")
                bench.submit(FAR + number * 1000, process="b")
            order = bench.run()
            return next(i for i, sector in enumerate(order) if sector >= FAR)

        # 100 + 20 (4 - level) ms: over at 210, at 130, at 50 ms
        assert [first_turn(level) for level in (0, 4, 7)] == [22, 14, 6]

    def test_idle_class_waits_until_nobody_else_has_used_the_disk(self) -> None:
        bench = Bench(scheduler="cfq", hz=1000)
        names = ("idle", "idle too")
        for name in names:
            bench.user.contexts[name] = IoContext(name, ioprio_class="idle")
        bench.submit(1000, sync=True, process="a")
        for number, name in ((1, names[0]), (3, names[0]), (2, names[1])):
            bench.submit(FAR * number, sync=True, process=name)
        # one at a time in turn, with nobody twice in a row; the driver gets them by sector
        assert bench.run() == [1000, FAR, 2 * FAR, 3 * FAR]
        # a tenth of a second after the last request of the others, at 1 ms
        assert bench.user.log[1] == (102_000, FAR)

    def test_priorities_take_turns_from_the_highest_each_time_one_further(self) -> None:
        elevator = Bench(scheduler="cfq").queue.elevator
        assert isinstance(elevator, Cfq)
        order = []
        for _ in range(40):
            for level, queues in enumerate(elevator.rr_lists):
                queues[:] = [CfqQueue(None, ("be", level), 0)]
            assert elevator._next_priority()
            order.append(elevator.cur_rr.pop().ioprio)
            assert not elevator.cur_rr
        # cfq_get_next_prio_level: 0; 0, 1; 0, 1, 2; up to 7, and again
        rounds = [level for most in range(8) for level in range(most + 1)]
        assert order == (rounds * 2)[:40]

    def test_priorities_without_requests_are_passed_over(self) -> None:
        elevator = Bench(scheduler="cfq").queue.elevator
        assert isinstance(elevator, Cfq)
        assert not elevator._next_priority()
        queue = CfqQueue(None, ("be", 7), 0)
        elevator.rr_lists[7].append(queue)
        assert elevator._next_priority()
        assert elevator.cur_rr == [queue]
        assert queue.place is elevator.cur_rr
        assert not elevator.rr_lists[7]

    def test_idle_class_gives_way_at_once(self) -> None:
        bench = Bench(scheduler="cfq", hz=1000)
        bench.user.contexts["idle"] = IoContext("idle", ioprio_class="idle")
        for number in range(30):
            bench.submit(1000 * number, sync=True, process="idle")
        bench.submit(FAR, at=205 * MS, sync=True, process="a")
        bench.run()
        log = {sector: end for end, sector in bench.user.log}
        # behind what the device and the driver have
        assert log[FAR] <= 205_000 + 3000


TUNABLES: dict[str, dict[str, int]] = {
    "noop": {},
    "deadline": {
        "read_expire": 500,
        "write_expire": 5000,
        "writes_starved": 2,
        "front_merges": 1,
        "fifo_batch": 16,
    },
    "anticipatory": {
        "read_expire": 125,
        "write_expire": 250,
        "antic_expire": 6,
        "read_batch_expire": 500,
        "write_batch_expire": 125,
    },
    "cfq": {
        "quantum": 4,
        "queued": 8,
        "fifo_expire_sync": 125,
        "fifo_expire_async": 250,
        "back_seek_max": 16384,
        "back_seek_penalty": 2,
        "slice_sync": 100,
        "slice_async": 40,
        "slice_async_rq": 2,
        "slice_idle": 8,
    },
}


@pytest.mark.parametrize("scheduler", sorted(TUNABLES))
def test_tunables_are_as_the_kernel_shows_them(scheduler: str) -> None:
    elevator = Bench(scheduler=scheduler, hz=1000).queue.elevator
    assert {name: elevator.show(name) for name in elevator.tunables} == TUNABLES[scheduler]


@pytest.mark.parametrize(
    ("first", "second", "nearest"),
    [
        (1000, 1400, 1000),
        (1300, 1200, 1200),
        # backwards, up to 500, counts twice; the other way is preferred where both are as far
        (900, 1150, 1150),
        (900, 1250, 900),
        (1200, 900, 1200),
        (500, 2001, 500),
        # what is farther back is as far as any, and then the lower one is nearer
        (499, 9000, 9000),
        (1000, 499, 1000),
        (499, 1000, 1000),
        (300, 200, 200),
    ],
)
def test_the_nearest_request_is_ahead_or_not_far_back(
    first: int, second: int, nearest: int
) -> None:
    context = IoContext("a")
    requests = [
        Request(Bio(sector, 8, write=False, context=context), 0, 0) for sector in (first, second)
    ]
    for one, other in (requests, requests[::-1]):
        assert nearer(one, other, 1000, 500, 2).sector == nearest


def test_times_are_rounded_up_to_jiffies_and_numbers_forced_into_their_range() -> None:
    elevator = Bench(scheduler="deadline").queue.elevator
    elevator.store("read_expire", 5)
    assert elevator.show("read_expire") == 8
    elevator.store("front_merges", 7)
    assert elevator.show("front_merges") == 1
    elevator.store("fifo_batch", -3)
    assert elevator.show("fifo_batch") == 0


def test_no_time_or_number_of_cfq_is_less_than_one_but_idling_and_seeking_back() -> None:
    elevator = Bench(scheduler="cfq", hz=1000).queue.elevator
    for name in elevator.tunables:
        elevator.store(name, -1)
    least = {name: elevator.show(name) for name in elevator.tunables}
    assert [name for name, value in least.items() if value == 0] == ["back_seek_max", "slice_idle"]
    assert set(least.values()) == {0, 1}


def test_defaults_are_whole_ticks_and_at_least_one() -> None:
    values = Bench(scheduler="cfq", hz=100).queue.elevator.values
    assert (values["slice_idle"], values["fifo_expire_sync"], values["slice_async"]) == (1, 12, 4)


def test_every_scheduler_is_known_by_its_name() -> None:
    assert {name: kind.name for name, kind in ELEVATORS.items()} == {n: n for n in ELEVATORS}


@pytest.mark.parametrize("scheduler", ["deadline", "anticipatory", "cfq"])
def test_two_requests_that_became_one_grow_at_its_end(scheduler: str) -> None:
    bench = Bench(100 * MS, scheduler=scheduler)
    behind_a_busy_device(bench)
    # the third fills the gap; others merge elsewhere, and the last follows the one that grew
    for sector in (1000, 1016, 1008, 5000, 5008, 1024):
        bench.submit(sector)
    bench.run()
    assert sorted(zip(bench.device.order, bench.device.sizes, strict=True)) == [
        *((1, 1), (3, 1), (1000, 32), (5000, 16))
    ]


@pytest.mark.parametrize(("scheduler", "reads"), [("deadline", 0), ("anticipatory", 1)])
def test_two_requests_that_became_one_have_the_earlier_deadline(scheduler: str, reads: int) -> None:
    def waiting(*sectors: int) -> list[tuple[int, int]]:
        bench = Bench(1000 * MS, scheduler=scheduler)
        behind_a_busy_device(bench)
        for number, sector in enumerate(sectors):
            bench.submit(sector, at=(20 + 20 * number) * MS)
        bench.run(500 * MS)
        elevator: Any = bench.queue.elevator
        fifo = elevator.fifo[reads]
        return [(request.sector, request.expires - fifo[0].expires) for request in fifo]

    ((_, _), (_, later)) = waiting(1016, 9000)
    assert later > 0
    # the second half came first
    assert waiting(1016, 9000, 1000, 1008) == [(1000, 0), (9000, later)]
    assert waiting(1000, 9000, 1016, 1008) == [(1000, 0), (9000, later)]
