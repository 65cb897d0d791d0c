"""noop and deadline against request orders worked out by hand from the kernel's source."""

from __future__ import annotations

import pytest

from simnet.storage.block import ELEVATORS
from tests.storage.parts import MS, US, Bench


def behind_a_busy_device(bench: Bench) -> None:
    """Keep the device busy for a while; the driver holds one more request than the device."""
    bench.submit(1, 1, sync=True, tag="busy")
    bench.submit(3, 1, sync=True, tag="held")


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


TUNABLES = {
    "noop": {},
    "deadline": {
        "read_expire": 500,
        "write_expire": 5000,
        "writes_starved": 2,
        "front_merges": 1,
        "fifo_batch": 16,
    },
}


@pytest.mark.parametrize("scheduler", sorted(TUNABLES))
def test_tunables_are_as_the_kernel_shows_them(scheduler: str) -> None:
    elevator = Bench(scheduler=scheduler, hz=1000).queue.elevator
    assert {name: elevator.show(name) for name in elevator.tunables} == TUNABLES[scheduler]


def test_times_are_rounded_up_to_jiffies_and_numbers_forced_into_their_range() -> None:
    elevator = Bench(scheduler="deadline").queue.elevator
    elevator.store("read_expire", 5)
    assert elevator.show("read_expire") == 8
    elevator.store("front_merges", 7)
    assert elevator.show("front_merges") == 1
    elevator.store("fifo_batch", -3)
    assert elevator.show("fifo_batch") == 0


def test_every_scheduler_is_known_by_its_name() -> None:
    assert {name: kind.name for name, kind in ELEVATORS.items()} == {n: n for n in ELEVATORS}
