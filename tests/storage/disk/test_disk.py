"""The mechanical disk: place and time of sectors, its queue, its buffer."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.scenario.parts.disks.build import disk_model
from simnet.storage.disk.command import Command, DiskPartition, disk_partitions
from simnet.storage.disk.disk import Disk
from simnet.storage.disk.geometry import Geometry, SeekCurve
from simnet.storage.disk.model import QUEUE_POLICIES
from tests.storage.parts import MS, ROUND, SECTOR, US, Device, Driver, round_disk

SCSI = disk_model("scsi-15k-73gb")
CLASSIC = (98, 183, 37, 122, 14, 124, 65, 67)


def attach(**changes: Any) -> tuple[Driver, Disk]:
    """A driver on a disk of round numbers."""
    sim = Simulator()
    disk = round_disk(sim, **changes)
    return Driver(sim, disk), disk


def run(*sectors: int, **changes: Any) -> tuple[Driver, Disk]:
    """Send reads at once to a disk of round numbers."""
    driver, disk = attach(**changes)
    for sector in sectors:
        driver.send(sector)
    driver.run()
    return driver, disk


class TestGeometry:
    def test_a_revolution_and_zones_follow_from_the_data_sheet(self) -> None:
        geometry = Geometry(SCSI)
        assert geometry.rotation_ps == 4 * MS
        tracks = [zone.track_sectors for zone in geometry.zones]
        assert len(tracks) == 15
        assert tracks == sorted(tracks, reverse=True)

    @pytest.mark.parametrize("name", ["scsi-15k-73gb", "sas-7k2-2tb"])
    def test_a_long_read_has_the_sustained_rate(self, name: str) -> None:
        model = replace(disk_model(name), cache_segments=0, command_overhead_ps=0)
        tracks = model.heads * 4
        for sector, rate in ((0, model.outer_rate_bps), (-1, model.inner_rate_bps)):
            zone = Geometry(model).zones[sector]
            cylinders = tracks * zone.track_sectors
            ends_ps = []
            for sectors in (1, 1 + cylinders):
                disk = Disk(Simulator(), "disk", model)
                command = _command(disk, zone.first_sector, sectors)
                ends_ps.append(disk.mechanism.execute(command, 0))
            found = cylinders * SECTOR * 8 * 10**12 / (ends_ps[1] - ends_ps[0])
            assert found == pytest.approx(rate, rel=0.003)

    @pytest.mark.parametrize("name", ["scsi-15k-73gb", "sas-7k2-2tb"])
    def test_the_seek_curve_has_the_three_figures_of_the_data_sheet(self, name: str) -> None:
        model = disk_model(name)
        geometry = Geometry(model)
        last = geometry.cylinders - 1
        assert geometry.curve.seek_ps(1) == model.seek_track_ps
        assert geometry.curve.seek_ps(last) == pytest.approx(model.seek_full_ps, abs=2000)
        # mean over two random cylinders: distance d has 2 (n - d) of n^2 pairs
        step = last // 1000
        distances = range(1, last, step)
        weights = [geometry.cylinders - d for d in distances]
        total = sum(w * geometry.curve.seek_ps(d) for w, d in zip(weights, distances, strict=True))
        assert total / sum(weights) == pytest.approx(model.seek_average_ps, rel=0.003)

    def test_figures_that_no_curve_fits_are_refused(self) -> None:
        with pytest.raises(ValueError, match="no seek curve rises"):
            SeekCurve(3 * MS, 2 * MS, 7 * MS, 10_000)

    @given(st.integers(0, SCSI.sectors - 1))
    def test_a_sector_ends_where_the_next_begins(self, sector: int) -> None:
        geometry = Geometry(SCSI)
        place = geometry.place(sector)
        assert 0 <= place.angle_ps < geometry.rotation_ps
        assert 1 <= place.left <= place.zone.track_sectors
        if place.left > 1 and sector + 1 < SCSI.sectors:
            passed = place.angle_ps + geometry.pass_ps(1, place.zone)
            assert geometry.wait_ps(passed, geometry.place(sector + 1)) <= 1


def _command(disk: Disk, sector: int, sectors: int) -> Any:
    from simnet.storage.disk.command import Command

    command = Command(sector, sectors, write=False, owner=None)
    disk.mechanism.locate(command)
    return command


class TestService:
    def test_a_read_waits_for_its_sector_to_come_round(self) -> None:
        driver, disk = run(3)
        # sector 3 begins to pass at 3 ms and has passed at 4 ms
        assert driver.log == [(4000, 3)]
        assert (disk.mechanism.rotation_ps, disk.mechanism.transfer_ps) == (3 * MS, MS)

    def test_a_seek_comes_before_the_rotation(self) -> None:
        # cylinder 1 begins 2 ms later (skew); its sector 0 comes at 2 ms, just when the arm does
        driver, disk = run(10, seek_track_ps=2 * MS, seek_average_ps=2 * MS, seek_full_ps=2 * MS)
        assert driver.log == [(3000, 10)]
        assert (disk.mechanism.seek_ps, disk.mechanism.rotation_ps) == (2 * MS, 0)

    def test_a_write_needs_longer_to_settle(self) -> None:
        sim = Simulator()
        seeks = {"seek_track_ps": 2 * MS, "seek_average_ps": 2 * MS, "seek_full_ps": 2 * MS}
        disk = round_disk(sim, **seeks, write_settle_ps=MS)
        driver = Driver(sim, disk)
        driver.send(20, write=True)
        driver.run()
        # skew of 3 ms a cylinder; the arm arrives at 3 ms, sector 20 passes from 6 to 7 ms
        assert driver.log == [(7000, 20)]

    def test_overhead_comes_first_and_overlaps_with_the_command_before(self) -> None:
        driver, _ = run(3, command_overhead_ps=3500 * US)
        assert driver.log == [(14_000, 3)]
        driver, _ = run(0, 5, command_overhead_ps=500 * US)
        assert driver.log == [(11_000, 0), (16_000, 5)]

    def test_a_full_queue_refuses(self) -> None:
        driver, _ = run(1, 2, 3, queue_depth=2)
        assert driver.refused == [3]
        assert driver.order == [1, 2]

    def test_sectors_beyond_the_disk_are_an_error(self) -> None:
        disk = round_disk(Simulator())
        with pytest.raises(ValueError, match="is not within 2000"):
            disk.submit(_command(round_disk(Simulator()), 1999, 2))


def seek_sum(policy: str) -> int:
    """Cylinders that the arm moves for the textbook's list, from cylinder 53."""
    sim = Simulator()
    disk = round_disk(sim, queue_policy=policy)
    disk.mechanism.cylinder = 53
    driver = Driver(sim, disk)
    # the mechanism is busy on cylinder 53 when the others come
    driver.send(530)
    for cylinder in CLASSIC:
        driver.send(cylinder * 10, at=1)
    driver.run()
    assert sorted(driver.order) == sorted([530, *(10 * c for c in CLASSIC)])
    return disk.mechanism.seek_cylinders


class TestQueue:
    """Silberschatz and Galvin, "Operating System Concepts": cylinders 98 ... 67 from 53."""

    @pytest.mark.parametrize(
        ("policy", "cylinders"), [("fcfs", 640), ("sstf", 236), ("c-look", 322)]
    )
    def test_seek_sums(self, policy: str, cylinders: int) -> None:
        assert seek_sum(policy) == cylinders

    def test_c_look_goes_inwards_and_starts_again_outside(self) -> None:
        driver, _ = run(500, 900, 100, 300, 700, queue_policy="c-look")
        assert driver.order == [500, 700, 900, 100, 300]

    def test_sptf_takes_what_passes_first(self) -> None:
        # nothing seeks: sectors by angle from where the first has passed, 1 ms
        driver, _ = run(0, 8, 24, 2, queue_policy="sptf")
        assert driver.log == [(1000, 0), (3000, 2), (5000, 24), (9000, 8)]

    def test_a_command_that_waits_too_long_goes_first(self) -> None:
        def orders(limit_ps: int) -> list[Any]:
            driver, _ = attach(queue_policy="sstf", queue_age_limit_ps=limit_ps)
            driver.send(1900)
            driver.send(5)
            for number in range(9):
                # each just missed: 9 ms
                driver.send(1909 - number, at=1, tag=f"near{number}")
            driver.run()
            return driver.order

        assert orders(0).index(5) == 10
        assert orders(30 * MS).index(5) < 6

    def test_sptf_beats_the_others_on_random_reads(self) -> None:
        ends = {}
        for policy in QUEUE_POLICIES:
            sim = Simulator()
            disk = Disk(sim, "disk", replace(SCSI, queue_policy=policy, queue_age_limit_ps=0))
            driver = Driver(sim, disk)
            for number in range(32):
                driver.send(number * 7_919_777 % disk.sectors, 8)
            driver.run()
            ends[policy] = driver.log[-1][0]
        assert ends["sptf"] < ends["c-look"] < ends["fcfs"]
        assert ends["sptf"] < ends["sstf"] < ends["fcfs"]


READ_AHEAD: dict[str, Any] = {"cache_bytes": 40 * SECTOR, "cache_segments": 4}


class TestReadAhead:
    def test_what_has_been_read_ahead_needs_no_medium(self) -> None:
        driver, disk = attach(**READ_AHEAD)
        driver.send(0)
        driver.send(3, at=5 * MS)
        driver.run()
        # sector 3 has passed at 4 ms; served at once
        assert driver.log == [(1000, 0), (5000, 3)]
        assert disk.hits == 1

    def test_a_read_of_what_is_just_passing_does_not_wait_a_revolution(self) -> None:
        driver, disk = attach(**READ_AHEAD)
        driver.send(0)
        driver.send(3, 4, at=4500 * US)
        driver.run()
        assert driver.log == [(1000, 0), (7000, 3)]
        # sector 0; of the other four the first has passed before it was asked for
        assert disk.mechanism.transfer_ps == 1 * MS + 3 * MS

    @pytest.mark.parametrize(
        ("sector", "sectors", "overhead_us", "end_us"),
        [
            # what the stream began with, and what is under the heads
            (0, 8, 0, 8000),
            (4, 4, 0, 8000),
            # what passes while the controller works
            (6, 2, 2000, 8000),
        ],
    )
    def test_it_is_served_from_the_stream_wherever_it_begins_in_that(
        self, sector: int, sectors: int, overhead_us: int, end_us: int
    ) -> None:
        driver, disk = attach(**READ_AHEAD, command_overhead_ps=overhead_us * US)
        disk.mechanism.ahead.begin(0, 1, 1 * MS, 0, 0)
        driver.send(sector, sectors, at=4500 * US)
        driver.run()
        assert driver.log == [(end_us, sector)]

    def test_the_stream_goes_on_for_a_segment_behind_what_it_served(self) -> None:
        driver, disk = attach(**READ_AHEAD)
        driver.send(0)
        driver.send(3, 4, at=4500 * US)
        # sectors up to 16 have passed by 17 ms
        driver.send(16, at=20 * MS)
        driver.run()
        assert driver.log[2:] == [(20_000, 16)]
        assert disk.hits == 1

    def test_without_read_ahead_it_does(self) -> None:
        driver, _ = attach()
        driver.send(0)
        driver.send(3, 4, at=4500 * US)
        driver.run()
        assert driver.log == [(1000, 0), (17_000, 3)]

    def test_reading_ahead_stops_when_the_segment_is_full(self) -> None:
        driver, _ = attach(**READ_AHEAD)
        driver.send(0)
        # sectors 1 to 10 fit beside what was read; 11 comes round again at 101 ms
        driver.send(11, at=95 * MS)
        driver.run()
        assert driver.log == [(1000, 0), (102_000, 11)]

    def test_another_command_ends_it_and_the_buffer_keeps_what_there_is(self) -> None:
        driver, disk = attach(**READ_AHEAD)
        driver.send(0)
        driver.send(500, at=4 * MS)
        driver.send(2, at=12 * MS)
        driver.send(5, at=13 * MS)
        driver.run()
        assert driver.log == [(1000, 0), (11_000, 500), (12_000, 2), (16_000, 5)]
        assert disk.hits == 1

    def test_a_write_makes_what_the_buffer_keeps_stale(self) -> None:
        driver, disk = attach(**READ_AHEAD)
        driver.send(0)
        driver.send(500, at=5 * MS)
        driver.send(2, at=20 * MS, write=True, tag="write")
        driver.send(2, at=33 * MS, tag="again")
        driver.run()
        assert driver.log[2:] == [(23_000, "write"), (43_000, "again")]
        assert disk.hits == 0

    def test_a_write_there_makes_it_stale(self) -> None:
        driver, _ = attach(**READ_AHEAD)
        driver.send(0)
        driver.send(3, at=5 * MS, write=True, tag="write")
        driver.send(3, at=16 * MS, tag="again")
        driver.run()
        assert driver.log == [(1000, 0), (14_000, "write"), (24_000, "again")]


WRITE_CACHE: dict[str, Any] = {"cache_bytes": 40 * SECTOR, "write_cache": True}


class TestWriteCache:
    def test_a_write_is_complete_when_it_is_in_the_buffer(self) -> None:
        driver, disk = attach(**WRITE_CACHE)
        driver.send(5, write=True)
        driver.run(2 * MS)
        assert driver.log == [(0, 5)]
        assert disk.buffer.used == 1
        driver.run()
        assert disk.buffer.used == 0
        assert disk.mechanism.transfer_ps == MS

    def test_off_it_is_complete_on_the_medium(self) -> None:
        driver, _ = attach()
        driver.send(5, write=True)
        driver.run()
        assert driver.log == [(6000, 5)]

    def test_a_read_goes_before_what_the_buffer_has_to_write(self) -> None:
        driver, _ = attach(**WRITE_CACHE, queue_policy="sptf")
        for sector in (0, 12, 14):
            driver.send(sector, write=True)
        driver.send(6)
        driver.run()
        assert driver.log[-1] == (7000, 6)

    def test_a_full_buffer_lets_a_write_wait_for_the_medium(self) -> None:
        driver, _ = attach(**WRITE_CACHE)
        driver.send(0, 20, write=True)
        driver.send(105, write=True)
        driver.run()
        assert driver.log[0] == (0, 0)
        assert driver.log[1][0] > 5000

    def test_a_flush_of_nothing_is_done_at_once(self) -> None:
        driver, disk = attach(**WRITE_CACHE)
        disk.flush(driver, "flush")
        driver.run()
        assert driver.log == [(0, "flush")]

    def test_a_flush_waits_until_the_buffer_is_on_the_medium(self) -> None:
        driver, disk = attach(**WRITE_CACHE)
        driver.send(5, write=True)
        driver.run(MS)
        disk.flush(driver, "flush")
        driver.run()
        assert driver.log == [(0, 5), (6000, "flush")]


class TestPartitions:
    def test_each_is_addressed_from_zero(self) -> None:
        sim = Simulator()
        disk = round_disk(sim)
        driver = Driver(sim, disk_partitions(disk, [("sda1", 0, 1000), ("sda2", 1000, 1000)])[1])
        driver.send(3)
        driver.run()
        assert disk.mechanism.seek_cylinders == 100
        assert driver.log == [(4000, 3)]

    @pytest.mark.parametrize(
        ("ranges", "message"),
        [
            ([("sda1", 0, 2001)], "partition sda1: sectors 0 to 2000 are not within the disk's 0"),
            ([("sda1", -1, 10)], "not within"),
            ([("sda1", 0, 0)], "not within"),
            ([("sda1", 0, 11), ("sda2", 10, 5)], "sda2: sectors 10 to 14 overlap partition sda1"),
            ([("sda1", 0, 1), ("sda1", 1, 1)], "two of this name"),
        ],
    )
    def test_ranges_that_do_not_fit_are_refused(
        self, ranges: list[tuple[str, int, int]], message: str
    ) -> None:
        with pytest.raises(ValueError, match=message):
            disk_partitions(round_disk(Simulator()), ranges)

    def test_a_command_cannot_leave_its_partition(self) -> None:
        disk = round_disk(Simulator())
        with pytest.raises(ValueError, match="beyond its 10 sectors"):
            DiskPartition("sda1", disk, 0, 10).submit(_command(disk, 9, 2))
        device = Device(Simulator())
        assert DiskPartition("sda1", device, 50, 10).submit(_command(disk, 8, 2))
        assert device.order == [58]


COMMANDS = st.lists(
    st.tuples(st.integers(0, 1990), st.integers(1, 10), st.integers(0, 100 * MS), st.booleans()),
    max_size=30,
)


class TestLaws:
    @given(
        COMMANDS,
        st.sampled_from(QUEUE_POLICIES),
        st.booleans(),
        st.sampled_from([0, 1, 3]),
        st.sampled_from([0, 20 * MS]),
    )
    def test_nothing_is_lost_and_times_add_up(
        self,
        commands: list[tuple[int, int, int, bool]],
        policy: str,
        write_cache: bool,  # noqa: FBT001 - drawn
        segments: int,
        age_ps: int,
    ) -> None:
        sim = Simulator()
        disk = round_disk(
            sim,
            queue_policy=policy,
            queue_age_limit_ps=age_ps,
            write_cache=write_cache,
            cache_bytes=60 * SECTOR,
            cache_segments=segments,
            heads=2,
            command_overhead_ps=300 * US,
            seek_track_ps=MS,
            seek_average_ps=4 * MS,
            seek_full_ps=8 * MS,
            write_settle_ps=MS // 2,
            head_switch_ps=MS // 2,
        )
        driver = Driver(sim, disk)
        for number, (sector, sectors, at, write) in enumerate(commands):
            driver.send(sector, sectors, at=at, write=write, tag=number)
        driver.run()
        assert sorted(driver.order) == list(range(len(commands)))
        assert disk.in_disk == 0
        assert disk.buffer.used == 0
        # Little: commands in the disk over time are the times that commands were in it
        counters = disk.counters()
        assert counters["command_ps"] == counters["residence_ps"]
        moved = counters["seek_ps"] + counters["rotation_ps"] + counters["transfer_ps"]
        if segments == 0:
            # overhead and bus that nothing hides are what else keeps the mechanism
            hidden_ps = len(commands) * (300 * US + disk.model.bus_ps(10) + 1)
            assert moved <= counters["busy_ps"] <= moved + hidden_ps

    def test_the_same_twice(self) -> None:
        def log() -> list[tuple[int, Any]]:
            sim = Simulator()
            driver = Driver(sim, Disk(sim, "disk", SCSI))
            for number in range(60):
                sector = number * 104_729_113 % SCSI.sectors
                driver.send(sector, 8, at=number * MS, write=number % 3 == 0)
            driver.run()
            return driver.log

        assert log() == log()


def test_random_reads_cost_what_the_data_sheet_adds_up_to() -> None:
    model = replace(SCSI, command_overhead_ps=0, cache_segments=0)
    sim = Simulator()
    disk = Disk(sim, "disk", model)
    driver = Driver(sim, disk)
    count = 400
    random = stream(1, "reads")
    for number in range(count):
        driver.send(random.below(disk.sectors - 8), 8, at=number * 20 * MS)
    driver.run()
    # mean seek, half a revolution, 8 sectors
    mean_ms = disk.busy_ps / count / MS
    assert mean_ms == pytest.approx(3.5 + 2.0 + 0.04, rel=0.05)
    assert disk.mechanism.rotation_ps / count / MS == pytest.approx(2.0, rel=0.08)
    assert math.isclose(disk.command_ps, disk.residence_ps)


def test_round_disk_is_what_the_numbers_above_assume() -> None:
    geometry = Geometry(ROUND)
    assert (geometry.cylinders, geometry.rotation_ps) == (200, 10 * MS)
    assert geometry.place(35).left == 5


def test_a_partition_passes_on_its_last_sector_and_hands_back_what_is_refused() -> None:
    sim = Simulator()
    for room, taken, sector in ((1, True, 58), (0, False, 8)):
        device = Device(sim, path=f"device{room}", room=room)
        command = Command(8, 2, write=False, owner=Driver(sim, device, f"driver{room}"))
        assert DiskPartition("sda1", device, 50, 10).submit(command) is taken
        assert command.sector == sector
