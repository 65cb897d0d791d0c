"""What an operation of declustered RAID costs: sectors, CPU time, and every counter."""

from dataclasses import replace
from typing import Any

import pytest

from simnet.kernel.simulator import Simulator
from simnet.storage.disk.model import SECTOR_BYTES
from simnet.storage.raid.cpu_pool import CpuPool
from simnet.storage.raid.declustered import DeclusteredRaid
from simnet.storage.raid.rebuild import Rebuild
from simnet.storage.raid.track import TrackOp, mix
from tests.storage.nsd.parts import MS, S, small
from tests.storage.raid.test_declustered import BLOCK, STRIP, SURFACE, Asker, strips

NS = 1000
KIB = 1024
CHECK, PARITY = 7 * NS, 11 * NS


class Bench(Asker):
    """A RAID whose CPU, one thread, needs 7 ns to check a KiB and 11 ns to encode one."""

    def __init__(self, **raid: Any) -> None:
        super().__init__(Simulator(), **raid)
        server = replace(small().server, checksum_ps_kib=CHECK, parity_ps_kib=PARITY)
        self.cpus = CpuPool(1)
        self.raid = DeclusteredRaid(
            self.sim,
            "other",
            replace(small().raid, **raid),
            server,
            SURFACE,
            self.cpus,
            block_bytes=BLOCK,
            nsds=2,
        )

    def run(self) -> int:
        """Run; return when the last operation was done."""
        self.sim.run_until(self.sim.now + 10 * S)
        return self.done[-1][0] if self.done else -1

    def counts(self) -> dict[str, int]:
        return {name: value for name, value in self.raid.counters().items() if value}

    def members(self, nsd: int, track: int) -> list[int]:
        op = TrackOp()
        op.nsd, op.track = nsd, track
        self.raid.layout.locate(op)
        return [self.raid.layout.member(op, index) for index in range(10)]


def test_counters_begin_at_nothing() -> None:
    bench = Bench()
    assert bench.counts() == {}
    assert list(bench.raid.counters()) == [
        *("reads", "full_writes", "part_writes", "rebuilt", "reconstructed", "unwritten"),
        *("read_ps", "write_ps", "busy"),
    ]
    assert list(bench.raid.lost_disk) == [-1]
    assert list(bench.raid.rebuilt_to) == [0, 0]


class TestCost:
    def test_every_strip_that_is_read_is_checked(self) -> None:
        bench = Bench()
        bench.raid.read(0, 5, 0, BLOCK, bench, None)
        assert bench.counts() == {"busy": 1}
        end = bench.run()
        assert bench.counts() == {"reads": 1, "read_ps": end}
        assert bench.cpus.busy_ps == BLOCK // KIB * CHECK

    def test_a_whole_track_is_checked_and_encoded(self) -> None:
        bench = Bench()
        bench.raid.write(0, 5, 0, BLOCK, bench, None)
        end = bench.run()
        assert bench.counts() == {"full_writes": 1, "write_ps": end}
        assert bench.cpus.busy_ps == BLOCK // KIB * (CHECK + PARITY)
        # nothing is written before it is encoded
        assert end > BLOCK // KIB * (CHECK + PARITY)

    def test_a_part_costs_what_it_reads_and_what_it_writes(self) -> None:
        bench = Bench()
        bench.raid.write(0, 5, STRIP, 2 * STRIP, bench, None)
        end = bench.run()
        assert bench.counts() == {"part_writes": 1, "write_ps": end}
        # the old data and two strips of parity are checked
        assert bench.cpus.busy_ps == STRIP // KIB * (3 * CHECK + CHECK + PARITY)

    def test_times_of_several_are_added_up(self) -> None:
        bench = Bench()
        for track in (5, 6):
            bench.raid.read(0, track, 0, 4096, bench, track)
            bench.raid.write(1, track, 0, 4096, bench, track)
        bench.run()
        counts = bench.counts()
        assert (counts["reads"], counts["part_writes"]) == (2, 2)
        assert counts["read_ps"] + counts["write_ps"] == sum(end for end, _ in bench.done)

    @pytest.mark.parametrize(
        ("begin", "end", "sectors"),
        [
            (0, 1, [8]),
            (4095, 4096, [8]),
            (4095, 4097, [16]),
            (512 * 9, 512 * 10, [8]),
            (STRIP - 1, STRIP + 1, [8, 8]),
            (STRIP - 4097, STRIP, [16]),
            (STRIP - 1, 2 * STRIP + 1, [8, STRIP // SECTOR_BYTES, 8]),
        ],
    )
    def test_reads_are_of_whole_pages(self, begin: int, end: int, sectors: list[int]) -> None:
        bench = Bench()
        bench.raid.read(0, 5, begin, end, bench, None)
        bench.run()
        found = [disk.read_sectors for disk in bench.raid.disks if disk.commands]
        assert sorted(found) == sorted(sectors)

    def test_strips_are_where_the_layout_says(self) -> None:
        bench = Bench()
        members = bench.members(1, 7)
        bench.raid.read(1, 7, 2 * STRIP, 4 * STRIP, bench, None)
        bench.run()
        assert [bool(disk.commands) for disk in bench.raid.disks] == [
            number in members[2:4] for number in range(12)
        ]

    @pytest.mark.parametrize(("largest", "commands"), [(STRIP, 8), (STRIP - 4096, 16)])
    def test_a_command_is_no_larger_than_it_may_be(self, largest: int, commands: int) -> None:
        bench = Bench(max_sectors_bytes=largest)
        bench.raid.read(0, 5, 0, BLOCK, bench, None)
        bench.run()
        assert sum(disk.commands for disk in bench.raid.disks) == commands

    @pytest.mark.parametrize(
        ("begin", "end", "read", "written"),
        [
            # three of eight: their old data and parity, five strips; else the other five
            (0, 3 * STRIP, 5, 5),
            (0, 4 * STRIP, 4, 6),
            (STRIP, 4 * STRIP, 5, 5),
            (5 * STRIP, 8 * STRIP, 5, 5),
            (STRIP, 8 * STRIP, 1, 9),
            (2 * STRIP, 8 * STRIP - 1, 2, 8),
            # of a strip that is written in part all is read for the parity
            (STRIP // 2, 8 * STRIP, 1, 9.5),
            (0, 7 * STRIP + STRIP // 2, 1, 9.5),
        ],
    )
    def test_the_parity_is_computed_from_as_little_as_possible(
        self, begin: int, end: int, read: int, written: float
    ) -> None:
        bench = Bench()
        bench.raid.write(0, 5, begin, end, bench, None)
        bench.run()
        assert bench.sectors() == (read * STRIP // SECTOR_BYTES, written * STRIP // SECTOR_BYTES)


class TestFailed:
    def test_a_lost_strip_is_computed_and_counted(self) -> None:
        bench = Bench()
        bench.raid.fail_disk(0, bench.members(0, 7)[3])
        bench.raid.read(0, 7, 3 * STRIP, 4 * STRIP, bench, None)
        bench.raid.read(0, 7, 4 * STRIP, 5 * STRIP, bench, None)
        end = bench.run()
        assert end > 0
        counts = bench.counts()
        assert (counts["reads"], counts["reconstructed"]) == (2, 1)
        assert bench.sectors() == (9 * STRIP // SECTOR_BYTES, 0)
        # nine strips are checked, and eight are decoded for one
        assert bench.cpus.busy_ps == STRIP // KIB * (9 * CHECK + 8 * PARITY)

    def test_only_the_range_of_what_is_lost_is_read_from_others(self) -> None:
        bench = Bench()
        bench.raid.fail_disk(0, bench.members(0, 7)[2])
        bench.raid.read(0, 7, 2 * STRIP + 8192, 2 * STRIP + 12288, bench, None)
        bench.run()
        assert bench.sectors() == (8 * 8, 0)
        assert bench.cpus.busy_ps == 4 * (8 * CHECK + 8 * PARITY)

    @pytest.mark.parametrize(("failed", "unwritten"), [([3], 1), ([3, 9], 2), ([0, 8], 2)])
    def test_what_cannot_be_written_is_counted(self, failed: list[int], unwritten: int) -> None:
        bench = Bench()
        members = bench.members(0, 7)
        for index in failed:
            bench.raid.fail_disk(0, members[index])
        bench.raid.write(0, 7, 0, BLOCK, bench, None)
        end = bench.run()
        assert bench.counts() == {"full_writes": 1, "write_ps": end, "unwritten": unwritten}
        assert bench.sectors() == (0, (10 - unwritten) * STRIP // SECTOR_BYTES)

    def test_a_disk_that_fails_under_way_costs_what_it_was_doing(self) -> None:
        bench = Bench()
        members = bench.members(0, 7)
        bench.raid.read(0, 7, STRIP, 2 * STRIP, bench, "read")
        bench.raid.write(0, 7, 0, BLOCK, bench, "write")
        bench.sim.run_until(MS)
        bench.raid.fail_disk(0, members[1])
        bench.run()
        counts = bench.counts()
        assert sorted(tag for _, tag in bench.done) == ["read", "write"]
        assert (counts["reads"], counts["full_writes"]) == (1, 1)
        assert (counts["reconstructed"], counts["unwritten"]) == (1, 1)
        assert "busy" not in counts


class TestRebuild:
    def test_so_many_tracks_are_rebuilt_at_once(self) -> None:
        _, asker = strips(first_permille=0, extent_permille=1, array_disks=23)
        raid = asker.raid
        raid.fail_disk(0, 4)
        rebuild = Rebuild(asker.sim, "rebuild", raid, 0, 4, 2, 3)
        assert rebuild.counters() == {"under_way": 3}
        assert list(raid.lost_disk) == [4]
        with pytest.raises(ValueError, match="another disk of array 0 is being rebuilt"):
            Rebuild(asker.sim, "second", raid, 0, 5, 2, 1)
        found = [[0, 0]]
        while found[-1] != [raid.layout.tracks] * 2:
            assert rebuild.done_ps is None
            asker.sim.run_until(asker.sim.now + 50 * MS)
            found.append(list(raid.rebuilt_to))
            assert rebuild.counters()["under_way"] <= 3
        # one vdisk after the other, and never back
        assert found == sorted(found)
        assert all(second == 0 or first == raid.layout.tracks for first, second in found)
        assert rebuild.counters() == {"under_way": 0}
        assert raid.counters()["busy"] == 0
        assert 0 < (rebuild.done_ps or 0) <= asker.sim.now

    def test_each_strip_of_the_disk_is_rebuilt_whichever_of_its_track_it_is(self) -> None:
        sim, asker = strips(first_permille=0, extent_permille=1, array_disks=23)
        raid = asker.raid
        tracks = [(nsd, track) for nsd in (0, 1) for track in range(raid.layout.tracks)]
        ops = []
        for nsd, track in tracks:
            op = TrackOp()
            op.nsd, op.track = nsd, track
            raid.layout.locate(op)
            ops.append(op)
        places = [[raid.layout.member(op, index) for index in range(10)] for op in ops]
        raid.fail_disk(0, 4)
        Rebuild(sim, "rebuild", raid, 0, 4, 2, 4)
        sim.run_until(1000 * S)
        assert raid.rebuilt == sum(4 in members for members in places)
        assert any(members[0] == 4 for members in places)
        # another disk that fails then has its strips computed, and those of the first are read
        raid.fail_disk(0, 7)
        chosen = [at for at, members in enumerate(places) if 7 in members[:8]][:10]
        for at in chosen:
            raid.read(*tracks[at], 0, BLOCK, asker, at)
        sim.run_until(2000 * S)
        assert raid.reconstructed == len(chosen) == len(asker.done)

    def test_an_array_without_vdisks_is_whole_at_once(self) -> None:
        sim, asker = strips(arrays=2)
        asker.raid.fail_disk(1, 4)
        sim.run_until(MS)
        rebuild = Rebuild(sim, "rebuild", asker.raid, 1, 4, 1, 3)
        assert rebuild.done_ps == MS
        assert rebuild.counters() == {"under_way": 0}


def test_numbers_are_mixed_as_in_splitmix64() -> None:
    # the first outputs of SplitMix64 from the seeds 0 and 1234567 (Vigna's reference code)
    assert mix(0) == 0xE220A8397B1DCDAF
    assert mix(1234567) == 6457827717110365317
    assert mix(1234567 + 0x9E3779B97F4A7C15) == 3203168211198807973
