"""Bios grow requests, and requests swallow each other, up to their limits."""

from typing import Any

import pytest

from simnet.storage.block.request import Bio, IoContext
from tests.storage.parts import MS, US, Bench


class TestMerging:
    def one(self, *firsts: int, sectors: int = 8, **options: Any) -> Bench:
        """Bios behind a device that is busy."""
        bench = Bench(1000 * MS, scheduler="deadline", **options)
        bench.submit(10**6, 1, sync=True)
        bench.submit(10**6 + 10, 1, sync=True)
        for number, first in enumerate(firsts, 1):
            bench.submit(first, sectors, at=number * MS)
        bench.run((len(firsts) + 7) * MS)
        return bench

    def waiting(self, bench: Bench) -> list[tuple[int, int]]:
        elevator: Any = bench.queue.elevator
        return [(each.sector, each.sectors) for each in elevator.fifo[0]]

    @pytest.mark.parametrize(
        ("limits", "merged"),
        [
            ({"max_hw_sectors": 16}, True),
            ({"max_hw_sectors": 15}, False),
        ],
    )
    def test_a_request_grows_up_to_its_limits(
        self, limits: dict[str, int], *, merged: bool
    ) -> None:
        bench = self.one(0, 8, **limits)
        assert self.waiting(bench) == ([(0, 16)] if merged else [(0, 8), (8, 8)])
        assert bench.queue.stats.merges == [int(merged), 0]

    @pytest.mark.parametrize(
        ("limits", "joined"),
        [
            ({"max_hw_sectors": 24}, True),
            ({"max_hw_sectors": 23}, False),
        ],
    )
    def test_two_requests_become_one_up_to_the_same_limits(
        self, limits: dict[str, int], *, joined: bool
    ) -> None:
        bench = self.one(0, 16, 8, **limits)
        assert self.waiting(bench) == ([(0, 24)] if joined else [(0, 16), (16, 8)])
        assert bench.queue.count[0] == 2 + (1 if joined else 2)
        if joined:
            elevator: Any = bench.queue.elevator
            (request,) = elevator.fifo[0]
            assert [bio.sector for bio in request.bios] == [0, 8, 16]
            assert request.segments == 3

    @pytest.mark.parametrize(("first", "joined"), [(1, True), (0, False)])
    def test_two_requests_become_one_of_128_segments(self, first: int, *, joined: bool) -> None:
        # of 64 pieces, of 63 or 64, and one between them
        bench = self.one(*range(first, 64), *range(65, 129), 64, sectors=1)
        assert len(self.waiting(bench)) == (1 if joined else 2)

    def test_one_that_swallows_an_older_one_counts_from_then_on(self) -> None:
        bench = self.one(16, 0, 8)
        elevator: Any = bench.queue.elevator
        (request,) = elevator.fifo[0]
        # the second half came at 1 ms, the first at 2, what joined them at 3
        assert (request.sector, request.start_ps) == (0, MS)
        assert request.start_jiffy == bench.queue.jiffies() - 2
        assert bench.queue.stats.merged_ps == 3 * MS - MS - MS

    def test_one_that_swallows_a_younger_one_counts_as_before(self) -> None:
        bench = self.one(0, 16, 8)
        elevator: Any = bench.queue.elevator
        (request,) = elevator.fifo[0]
        assert request.start_ps == MS
        assert bench.queue.stats.merged_ps == 3 * MS - 2 * MS

    def test_the_one_that_swallowed_is_the_first_that_the_next_bio_is_tried_with(self) -> None:
        bench = self.one(0, 16, 8)
        elevator: Any = bench.queue.elevator
        assert bench.queue.last_merge is elevator.fifo[0][0]
        assert bench.queue.stats.merges == [1, 0]

    def test_before_a_request_as_well_as_behind_it(self) -> None:
        bench = self.one(16, 0, 24, 8)
        assert self.waiting(bench) == [(0, 32)]
        elevator: Any = bench.queue.elevator
        (request,) = elevator.fifo[0]
        assert [bio.sector for bio in request.bios] == [0, 8, 16, 24]

    def test_a_request_that_was_too_large_once_takes_nothing_more(self) -> None:
        bench = Bench(1000 * MS, scheduler="noop", max_hw_sectors=20)
        queue = bench.queue
        for sector, sectors in ((0, 8), (8, 8), (16, 8), (16, 4)):
            bench.submit(sector, sectors, at=US)
        bench.run(2 * US)
        # noop knows no other merges than with the last
        elevator: Any = queue.elevator
        assert [(each.sector, each.sectors) for each in elevator.waiting] == [
            *((0, 16), (16, 8), (16, 4))
        ]

    def test_a_bio_that_is_waited_for_unplugs_when_it_merges(self) -> None:
        bench = Bench(scheduler="noop")
        bench.submit(0)
        bench.submit(8, at=US, sync=True)
        bench.run(2 * US)
        assert bench.device.sizes == [16]


def test_a_bio_of_a_part_of_a_page_has_one_segment() -> None:
    owner = IoContext("owner")
    assert Bio(0, 1, write=False, context=owner).segments == 1
    assert Bio(0, 8, write=False, context=owner).segments == 1
    assert Bio(0, 9, write=False, context=owner).segments == 2
