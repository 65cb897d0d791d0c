"""The block layer before a disk of an array, the paths behind it, and what it counts."""

from itertools import pairwise

import pytest

from simnet.kernel.simulator import Simulator
from simnet.storage.disk.model import SECTOR_BYTES
from simnet.storage.raid.pdisk import Pdisk, SasPath, new_strip
from tests.storage.raid.test_pdisk import FAST, SURFACE, Ask, Host, S, order, pdisk, served

MS = 10**9
# the disk is far away from all others when the first of these is done
BUSY: Ask = (0, 0, 8, False)


def times(host: Host) -> dict[int, int]:
    return {number: time for time, number in host.done}


class TestPath:
    def test_it_carries_one_piece_after_the_other(self) -> None:
        path = SasPath("lane", 512 * 10**6)
        # a sector in a microsecond
        assert path.book(0, 3) == 3 * 10**6
        assert path.book(10**6, 2) == 5 * 10**6
        assert path.book(9 * 10**6, 1) == 10 * 10**6
        assert path.bytes == 6 * 512

    def test_a_sector_never_takes_less_than_its_time(self) -> None:
        assert SasPath("lane", 3 * 10**9).book(0, 1) == 170_667

    @pytest.mark.parametrize("which", ["lane", "adapter"])
    def test_a_command_ends_when_disk_and_paths_are_done(self, which: str) -> None:
        def end(rate: int) -> int:
            sim = Simulator()
            rates = {"lane": FAST, "adapter": FAST, which: rate}
            lane, adapter = (SasPath(name, rates[name]) for name in ("lane", "adapter"))
            disk = Pdisk(
                sim, "d", SURFACE, lane, adapter, nr_requests=9, queue_depth=9, deadline=True
            )
            host = Host(sim, disk, [(0, 0, 1000, False)])
            sim.run_until(10 * S)
            assert lane.bytes == adapter.bytes == 1000 * SECTOR_BYTES
            return host.done[0][0]

        assert end(10**6) == 1000 * SECTOR_BYTES * 10**6
        assert end(10**9) == end(FAST)


class TestCounters:
    def test_one_read(self) -> None:
        sim = Simulator()
        disk = pdisk(sim)
        host = Host(sim, disk, [(MS, 8 * 10**6, 64, False)])
        assert disk.worked_ps() == 0
        sim.run_until(2 * MS)
        assert disk.worked_ps() == MS
        assert (disk.held, disk.largest, disk.commands) == (1, 1, 0)
        sim.run_until(S)
        ((end, _),) = host.done
        assert disk.counters() == {
            "commands": 1,
            "read_sectors": 64,
            "written_sectors": 0,
            "hits": 0,
            "busy_ps": end - MS,
            "held_ps": end - MS,
            "largest": 1,
        }
        assert disk.worked_ps() == end - MS
        assert disk.held == 0

    def test_what_is_held_is_added_up(self) -> None:
        sim = Simulator()
        disk = pdisk(sim, depth=1)
        host = Host(sim, disk, [(0, 0, 8, True), (MS, 9 * 10**6, 16, False), (MS, 10**6, 8, True)])
        sim.run_until(S)
        counts = disk.counters()
        assert counts["largest"] == 3
        assert (counts["read_sectors"], counts["written_sectors"]) == (16, 16)
        assert counts["held_ps"] == sum(
            end - (0 if number == 0 else MS) for end, number in host.done
        )
        assert counts["busy_ps"] == host.done[-1][0]

    def test_a_disk_takes_no_more_at_once_than_it_can(self) -> None:
        # the model's own queue is shorter than what the driver would send
        assert pdisk(Simulator(), depth=10**6).queue_depth == SURFACE.model.queue_depth
        assert pdisk(Simulator(), depth=3).queue_depth == 3

    @pytest.mark.parametrize(("sector", "sectors"), [(-1, 8), (0, 0), (SURFACE.sectors - 7, 8)])
    def test_sectors_that_it_has_not_are_refused(self, sector: int, sectors: int) -> None:
        sim = Simulator()
        disk = pdisk(sim)
        host = Host(sim, disk, [])
        with pytest.raises(ValueError, match="pdisk: "):
            disk.submit(new_strip(host, None, 0, sector, sectors, write=False))
        assert disk.held == 0


class TestDeadline:
    def test_a_batch_goes_upwards_from_the_oldest(self) -> None:
        asks = [BUSY, *((1, 10**6 * place, 8, False) for place in (50, 20, 70, 60, 10))]
        # the oldest, what lies above it by sector, then the oldest of the rest and what is above
        assert order(asks, deadline=True) == [0, 1, 4, 3, 2, 5]

    def expiring(self, *, write: bool, count: int) -> tuple[dict[int, int], list[int]]:
        """One at a low sector, and many that follow each other above."""
        low: Ask = (1, 10**6, 8, write)
        first: Ask = (1, 2 * 10**6, 8, write)
        rest = [(1, 2 * 10**6 + 8 * n, 8, write) for n in range(1, count)]
        host = served([BUSY, first, low, *rest], depth=1)
        return times(host), [number for _, number in host.done]

    @pytest.mark.parametrize(
        ("write", "count", "limit_ps"), [(False, 100, 500 * MS), (True, 700, 5000 * MS)]
    )
    def test_what_waits_too_long_goes_first_when_a_batch_ends(
        self, count: int, limit_ps: int, *, write: bool
    ) -> None:
        ends, order = self.expiring(write=write, count=count)
        place = order.index(2)
        # batches of sixteen; it was passed over while its time was not over
        assert (place - 1) % 16 == 0
        chosen = [ends[order[at - 1]] for at in range(17, place + 1, 16)]
        assert [time - 1 > limit_ps for time in chosen] == [False] * (len(chosen) - 1) + [True]

    def test_writes_have_their_turn_after_two_batches_and_reads_after_one(self) -> None:
        reads = [(1, 10**6 * (90 - n), 8, False) for n in range(8)]
        writes = [(1, 10**6 * (20 - n), 8, True) for n in range(4)]
        found = order([BUSY, *reads, *writes], deadline=True)
        # falling sectors: each is a batch of its own
        assert found == [0, 1, 2, 9, 3, 4, 10, 5, 6, 11, 7, 8, 12]

    def test_the_scheduler_looks_at_so_many_requests_only(self) -> None:
        asks = [BUSY, *((1, 10**6 * place, 8, False) for place in (10, 40, 30, 20, 15))]

        def ways(requests: int) -> list[int]:
            host = served(asks, depth=1, requests=requests)
            return [number for _, number in host.done]

        assert ways(5) == [0, 1, 5, 4, 3, 2]
        # of the first three only: 40 and 30 are known when 10 begins
        assert ways(3) == [0, 1, 3, 2, 4, 5]

    def test_a_request_right_there_is_not_above(self) -> None:
        asks = [BUSY, (1, 5000, 8, False), (1, 5000, 8, False), (1, 6000, 8, False)]
        assert order(asks, deadline=True) == [0, 1, 3, 2]


class TestNoop:
    def test_the_oldest_of_both_kinds_goes_first_and_a_read_of_two(self) -> None:
        asks = [
            BUSY,
            (3, 10**6, 8, True),
            (2, 2 * 10**6, 8, False),
            (3, 3 * 10**6, 8, False),
            (4, 4 * 10**6, 8, True),
            (5, 5 * 10**6, 8, False),
        ]
        assert order(asks, deadline=False) == [0, 2, 3, 1, 4, 5]


class TestFailure:
    def test_all_that_it_held_comes_back_in_its_order(self) -> None:
        sim = Simulator()
        disk = pdisk(sim, depth=2)
        asks = [(n, 10**6 * n, 8, n % 2 == 1) for n in range(6)]
        host = Host(sim, disk, asks)
        sim.run_until(MS)
        lost = [strip.index for strip in disk.fail()]
        # in the mechanism, in the disk, reads that wait, writes that wait
        assert lost == [0, 1, 2, 4, 3, 5]
        assert (disk.held, disk.failed, disk.busy_ps) == (0, True, MS)
        assert disk.worked_ps() == MS
        assert disk.fail() == []
        sim.run_until(S)
        assert host.done == []
        assert disk.counters()["held_ps"] == sum(MS - at for at, *_ in asks)

    def test_an_idle_disk_has_nothing_to_give_back(self) -> None:
        sim = Simulator()
        disk = pdisk(sim)
        sim.run_until(MS)
        assert disk.fail() == []
        assert disk.busy_ps == 0


def test_commands_in_the_disk_are_served_by_time_and_those_before_it_by_the_scheduler() -> None:
    asks = [(0, 10**6 * place, 8, False) for place in (0, 300, 100, 200, 250)]
    deep = [number for _, number in served(asks, depth=5).done]
    assert sorted(deep) == [0, 1, 2, 3, 4]
    ends = [time for time, _ in served(asks, depth=1).done]
    assert all(later > earlier for earlier, later in pairwise(ends))
    assert served(asks, depth=5).done[-1][0] < ends[-1]
