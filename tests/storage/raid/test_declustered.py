"""Declustered RAID: where strips are, what each operation costs, what failed disks cost."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.errors import SimulationError
from simnet.kernel.simulator import Simulator
from simnet.storage.disk.model import SECTOR_BYTES
from simnet.storage.disk.surface import Surface
from simnet.storage.raid.cpu_pool import CpuPool
from simnet.storage.raid.declustered import DeclusteredRaid
from simnet.storage.raid.rebuild import Rebuild
from simnet.storage.raid.track import TrackLayout, TrackOp, TrackOwner
from tests.storage.nsd.parts import MIB, MS, S, small, whole

BLOCK = 8 * MIB
STRIP = BLOCK // 8
SURFACE = Surface(whole().disk)


class Asker(TrackOwner):
    """Reads and writes tracks; notes what is done."""

    def __init__(self, sim: Simulator, **raid: Any) -> None:
        super().__init__(sim, "asker")
        model = small()
        self.cpus = CpuPool(20)
        self.raid = DeclusteredRaid(
            sim,
            "raid",
            replace(model.raid, **raid),
            model.server,
            SURFACE,
            self.cpus,
            block_bytes=BLOCK,
            nsds=2,
        )
        self.done: list[tuple[int, Any]] = []

    def track_done(self, op: TrackOp) -> int:
        self.done.append((self.sim.now, op.tag))
        return 0

    def sectors(self) -> tuple[int, int]:
        """Sectors read and written by all disks."""
        disks = self.raid.disks
        return sum(d.read_sectors for d in disks), sum(d.written_sectors for d in disks)


def strips(**raid: Any) -> tuple[Simulator, Asker]:
    sim = Simulator()
    return sim, Asker(sim, **raid)


class TestLayout:
    def test_all_disks_have_equally_many_strips_and_a_track_none_twice(self) -> None:
        model = whole().raid
        layout = TrackLayout("raid", model, SURFACE.sectors, 16 * MIB, 2)
        uses, enclosures = Counter[int](), Counter[int]()
        for track in range(3000):
            op = TrackOp()
            op.nsd, op.track = track % 2, track
            layout.locate(op)
            members = [layout.member(op, index) for index in range(model.width)]
            assert len(set(members)) == model.width
            uses.update(members)
            shelves = Counter(member % model.enclosures for member in members)
            assert max(shelves.values()) - min(shelves.values()) <= 1
            enclosures.update(shelves)
            assert op.sector + layout.strip_sectors <= SURFACE.sectors
        mean = 3000 * model.width / model.array_disks
        assert len(uses) == model.array_disks
        assert max(uses.values()) < 1.3 * mean
        assert min(uses.values()) > 0.7 * mean

    @given(st.integers(10, 40), st.integers(2, 3), st.integers(1, 4))
    def test_every_strip_has_a_place_of_its_own_and_so_has_what_is_rebuilt(
        self, disks: int, parity: int, nsds: int
    ) -> None:
        model = replace(whole().raid, arrays=2, array_disks=max(disks, 8 + parity))
        model = replace(model, parity_strips=parity, first_permille=100, extent_permille=1)
        layout = TrackLayout("raid", model, SURFACE.sectors, 16 * MIB, nsds)
        places: set[tuple[int, int, int]] = set()
        for nsd in range(nsds):
            for track in range(layout.tracks):
                op = TrackOp()
                op.nsd, op.track = nsd, track
                layout.locate(op)
                members = [layout.member(op, index) for index in range(model.width)]
                spare = layout.member(op, model.width)
                assert spare not in members or model.array_disks == model.width
                places.update((op.array, member, op.sector) for member in members)
                if track % ((model.array_disks - 1) // model.width or 1) == 0:
                    places.add((op.array, spare, op.sector))
        rows = layout.tracks // ((model.array_disks - 1) // model.width or 1)
        spares = rows * nsds * (model.array_disks > model.width)
        assert len(places) == nsds * layout.tracks * model.width + spares
        sectors = sorted({sector for _, _, sector in places})
        assert min(b - a for a, b in pairwise([*sectors, SURFACE.sectors])) >= layout.strip_sectors

    def test_tracks_and_spare_space_fill_their_part_of_the_disks(self) -> None:
        model = whole().raid
        layout = TrackLayout("raid", model, SURFACE.sectors, 16 * MIB, 2)
        # 11 tracks of 10 strips and 6 spare places on 116 disks
        held = 2 * layout.tracks // 11 * 116 * 2 * MIB
        part = model.extent_permille * SURFACE.sectors * SECTOR_BYTES * model.array_disks // 1000
        assert layout.tracks % 11 == 0
        assert 0.999 * part < held <= part

    @pytest.mark.parametrize(
        ("changes", "block", "message"),
        [
            ({"array_disks": 9}, BLOCK, "10 strips does not fit on 9 disks"),
            ({}, BLOCK + 4096, "8392704 bytes are not 8 strips"),
            ({"first_permille": 999, "extent_permille": 500}, BLOCK, "not within the disks"),
        ],
    )
    def test_what_does_not_fit_is_refused(
        self, changes: dict[str, Any], block: int, message: str
    ) -> None:
        with pytest.raises(ValueError, match=message):
            TrackLayout("raid", replace(whole().raid, **changes), SURFACE.sectors, block, 1)


class TestOperations:
    @pytest.mark.parametrize(
        ("write", "begin", "end", "read", "written"),
        [
            (False, 0, BLOCK, 8 * STRIP, 0),
            (False, STRIP, 2 * STRIP, STRIP, 0),
            (False, STRIP // 2, STRIP // 2 + 4096, 4096, 0),
            (True, 0, BLOCK, 0, 10 * STRIP),
            # one strip of eight: its old data and the old parity
            (True, STRIP, 2 * STRIP, 3 * STRIP, 3 * STRIP),
            (True, 4096, 8192, 3 * 4096, 3 * 4096),
            # seven of eight: the one that is not touched
            (True, 0, 7 * STRIP, STRIP, 9 * STRIP),
            (True, 0, 7 * STRIP + 4096, STRIP, 9 * STRIP + 4096),
        ],
    )
    def test_an_operation_moves_so_much(
        self, *, write: bool, begin: int, end: int, read: int, written: int
    ) -> None:
        sim, asker = strips()
        (asker.raid.write if write else asker.raid.read)(0, 5, begin, end, asker, "it")
        sim.run_until(S)
        assert [tag for _, tag in asker.done] == ["it"]
        assert asker.sectors() == (read // SECTOR_BYTES, written // SECTOR_BYTES)

    def test_8_3p_writes_a_strip_more(self) -> None:
        sim, asker = strips(parity_strips=3)
        asker.raid.write(0, 5, 0, BLOCK, asker, None)
        sim.run_until(S)
        assert asker.sectors() == (0, 11 * STRIP // SECTOR_BYTES)

    def test_strips_beyond_the_largest_request_are_split(self) -> None:
        sim, asker = strips(max_sectors_bytes=STRIP // 4)
        asker.raid.read(0, 5, 0, BLOCK, asker, None)
        sim.run_until(S)
        assert sum(disk.commands for disk in asker.raid.disks) == 32
        assert len(asker.done) == 1

    def test_data_wait_for_the_check_of_the_last_strip(self) -> None:
        times = []
        for check in (0, 10**6):
            sim, asker = strips()
            server = replace(small().server, checksum_ps_kib=check)
            asker.raid = DeclusteredRaid(
                sim, "other", small().raid, server, SURFACE, CpuPool(20), block_bytes=BLOCK, nsds=2
            )
            asker.raid.read(0, 5, 0, BLOCK, asker, None)
            sim.run_until(S)
            times.append(asker.done[0][0])
        assert times[1] - times[0] == STRIP // 1024 * 10**6


class TestFailures:
    @settings(max_examples=15)
    @given(
        st.lists(
            st.tuples(st.booleans(), st.integers(0, 40), st.integers(0, 7), st.integers(1, 8)),
            min_size=1,
            max_size=12,
        ),
        st.lists(
            st.tuples(st.integers(0, 11), st.integers(0, 60)), max_size=2, unique_by=lambda f: f[0]
        ),
        st.sampled_from([STRIP, STRIP // 2, 8 * MIB]),
    )
    def test_up_to_two_failed_disks_lose_no_operation(
        self, asks: list[tuple[bool, int, int, int]], fails: list[tuple[int, int]], largest: int
    ) -> None:
        sim, asker = strips(max_sectors_bytes=largest)
        for number, (write, track, first, count) in enumerate(asks):
            begin, end = first * STRIP, min(first + count, 8) * STRIP
            (asker.raid.write if write else asker.raid.read)(
                track % 2, track, begin, end, asker, number
            )
        for disk, at_ms in sorted(fails, key=lambda fail: fail[1]):
            sim.run_until(max(at_ms * MS, sim.now))
            asker.raid.fail_disk(0, disk)
        sim.run_until(100 * S)
        assert sorted(tag for _, tag in asker.done) == list(range(len(asks)))
        assert asker.raid.busy == 0

    @pytest.mark.parametrize(("index", "computed"), [(3, 8 * STRIP), (8, 0)])
    def test_a_part_is_written_with_a_failed_disk_by_computing_lost_data(
        self, index: int, computed: int
    ) -> None:
        model, cpus = small(), CpuPool(1)
        server = replace(model.server, checksum_ps_kib=0, parity_ps_kib=10**6)
        sim, asker = strips()
        raid = DeclusteredRaid(
            sim, "other", model.raid, server, SURFACE, cpus, block_bytes=BLOCK, nsds=2
        )
        op = TrackOp()
        op.nsd, op.track = 0, 7
        raid.layout.locate(op)
        raid.fail_disk(0, raid.layout.member(op, index))
        raid.write(0, 7, 0, 2 * STRIP, asker, None)
        sim.run_until(S)
        assert len(asker.done) == 1
        # the parity of what is written, and eight strips for one that is lost
        assert cpus.busy_ps == (2 * STRIP + computed) // 1024 * 10**6

    def test_a_read_of_a_failed_disk_is_computed_from_eight_others(self) -> None:
        sim, asker = strips(array_disks=10)
        asker.raid.fail_disk(0, 3)
        for track in range(20):
            asker.raid.read(0, track, 0, BLOCK, asker, track)
        sim.run_until(10 * S)
        # every track is on all ten disks: eight data strips in ten, or eight others
        assert asker.sectors() == (20 * BLOCK // SECTOR_BYTES, 0)
        assert 0 < asker.raid.reconstructed < 20
        assert asker.raid.disks[3].commands == 0

    def test_a_small_read_of_a_failed_disk_reads_eight_times_as_much(self) -> None:
        sim, asker = strips(array_disks=10)
        op = TrackOp()
        op.nsd, op.track = 0, 7
        asker.raid.layout.locate(op)
        asker.raid.fail_disk(0, asker.raid.layout.member(op, 2))
        asker.raid.read(0, 7, 2 * STRIP + 4096, 2 * STRIP + 8192, asker, None)
        sim.run_until(S)
        assert asker.sectors() == (8 * 4096 // SECTOR_BYTES, 0)

    def test_three_failed_disks_of_a_track_lose_it(self) -> None:
        sim, asker = strips(array_disks=10)
        for disk in range(3):
            asker.raid.fail_disk(0, disk)
        with pytest.raises(SimulationError, match="too many disks have failed"):
            asker.raid.read(0, 1, 0, BLOCK, asker, None)
        assert not sim.now

    def test_rebuilding_makes_the_array_whole_with_the_work_on_all_disks(self) -> None:
        sim, asker = strips(first_permille=0, extent_permille=1, array_disks=23)
        lost = asker.raid.disks[4]
        asker.raid.fail_disk(0, 4)
        rebuild = Rebuild(sim, "rebuild", asker.raid, 0, 4, 2, 4)
        sim.run_until(1000 * S)
        raid = asker.raid
        assert rebuild.done_ps is not None
        assert lost.commands == 0
        read, written = asker.sectors()
        assert read == 8 * written == 8 * raid.rebuilt * STRIP // SECTOR_BYTES
        mean = 10 / 23 * 2 * raid.layout.tracks
        assert raid.rebuilt == pytest.approx(mean, rel=0.15)
        work = [disk.read_sectors + disk.written_sectors for disk in raid.disks if not disk.failed]
        assert max(work) < 1.35 * sum(work) / len(work)
        for track in range(200):
            op = TrackOp()
            op.nsd, op.track, op.kind, op.stage = 0, track % raid.layout.tracks, 0, 0
            raid.layout.locate(op)
            members = {raid.disk_of(op, index) for index in range(10)}
            assert len(members) == 10
            assert 4 not in members
        before = raid.reconstructed
        for track in range(60):
            raid.read(track % 2, track % raid.layout.tracks, 0, BLOCK, asker, track)
        sim.run_until(2000 * S)
        assert raid.reconstructed == before
        assert len(asker.done) == 60

    def test_what_cannot_fail_is_refused(self) -> None:
        _, asker = strips()
        asker.raid.fail_disk(0, 1)
        for array, disk in ((0, 1), (0, 12), (1, 0), (-1, 0)):
            with pytest.raises(ValueError, match="disk"):
                asker.raid.fail_disk(array, disk)
