"""Parts of a disk by hand: its write buffer, kept ranges, geometry, and what all drives count."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.kernel.simulator import Simulator
from simnet.scenario.parts.disks.build import disk_model
from simnet.storage.disk.cache import WriteBuffer
from simnet.storage.disk.command import Command
from simnet.storage.disk.flash import FlashDisk
from simnet.storage.disk.geometry import Geometry, SeekCurve
from simnet.storage.disk.mechanism import Mechanism
from simnet.storage.disk.model import DiskModel
from simnet.storage.disk.surface import Place, ReadAhead, Surface
from tests.house.examples import examples
from tests.storage.disk.test_flash import MODEL
from tests.storage.parts import MS, ROUND, SECTOR, US, Driver, round_disk

MODEL_2TB = disk_model("sas-7k2-2tb")
LARGE, SURFACE = Geometry(MODEL_2TB), Surface(MODEL_2TB)


class TestWriteBuffer:
    def test_what_follows_a_range_makes_it_longer(self) -> None:
        buffer = WriteBuffer(20)
        assert (buffer.used, buffer.extents) == (0, [])
        for sector, sectors in ((100, 4), (50, 2), (104, 4), (48, 2)):
            buffer.put(sector, sectors)
        # only at its end
        assert buffer.extents == [(100, 108), (50, 52), (48, 50)]
        assert buffer.used == 12
        assert buffer.room(8)
        assert not buffer.room(9)
        assert buffer.hold(100, 108)
        assert buffer.hold(101, 107)
        for begin, end in ((99, 101), (107, 109), (48, 52)):
            assert not buffer.hold(begin, end)
        buffer.written(8)
        assert buffer.used == 4


def read_ahead(segments: int, sectors: int) -> ReadAhead:
    """Of a disk that keeps so many ranges of so many sectors."""
    kept = segments * sectors * SECTOR
    return ReadAhead(Surface(replace(ROUND, cache_segments=segments, cache_bytes=kept)))


class TestKeptRanges:
    def keep(self, ahead: ReadAhead, start: int, end: int) -> None:
        """Read a range, and need the arm for something else at once."""
        ahead.begin(start, end, 0, 0, 0)
        ahead.stop(0)

    def test_the_oldest_range_makes_room_and_only_its_end_fits(self) -> None:
        kept = read_ahead(2, 10)
        for start, end in ((0, 4), (100, 130), (200, 200)):
            self.keep(kept, start, end)
        assert kept.hold(0, 4)
        assert not kept.hold(119, 121)
        assert kept.hold(120, 130)
        assert not kept.hold(200, 200)
        # the first was used before the second was
        self.keep(kept, 300, 305)
        assert not kept.hold(0, 4)
        assert kept.hold(120, 130)

    def test_what_is_overwritten_is_forgotten(self) -> None:
        kept = read_ahead(3, 10)
        for start in (0, 20, 40):
            self.keep(kept, start, start + 10)
        kept.drop(10, 20)
        assert kept.hold(0, 10)
        kept.drop(29, 41)
        assert [kept.hold(start, start + 10) for start in (0, 20, 40)] == [True, False, False]

    def test_without_segments_nothing_is_kept(self) -> None:
        kept = read_ahead(0, 10)
        self.keep(kept, 0, 10)
        assert not kept.going
        assert not kept.hold(0, 10)

    @settings(max_examples=examples(200))
    @given(
        st.lists(
            st.tuples(
                st.sampled_from(("keep", "hold", "drop")), st.integers(0, 90), st.integers(1, 40)
            )
        )
    )
    def test_they_are_found_and_forgotten_as_in_a_plain_list(
        self, steps: list[tuple[str, int, int]]
    ) -> None:
        kept, ranges = read_ahead(5, 10), list[tuple[int, int]]()
        for step, start, sectors in steps:
            end = start + sectors
            if step == "keep":
                self.keep(kept, start, end)
                ranges = [*ranges[-4:], (max(start, end - 10), end)]
            elif step == "drop":
                kept.drop(start, end)
                ranges = [one for one in ranges if one[1] <= start or end <= one[0]]
            else:
                found = [one for one in ranges if one[0] <= start and end <= one[1]][:1]
                assert kept.hold(start, end) == bool(found)
                for one in found:
                    ranges.remove(one)
                    ranges.append(one)


class TestReadAhead:
    """Ten sectors of a millisecond each pass in a revolution."""

    def stream(self) -> ReadAhead:
        stream = read_ahead(1, 13)
        stream.begin(3, 5, 5 * MS, 0, 0)
        assert (stream.limit, stream.sector, stream.start) == (18, 5, 3)
        return stream

    @pytest.mark.parametrize(
        ("now_us", "reached"),
        [(5000, 5), (5999, 5), (6000, 6), (9999, 9), (10_000, 10), (12_500, 12), (90_000, 18)],
    )
    def test_whole_sectors_have_passed(self, now_us: int, reached: int) -> None:
        stream = self.stream()
        stream.advance(now_us * US)
        assert stream.sector == reached
        assert stream.cylinder == (1 if reached > 10 else 0)

    @pytest.mark.parametrize(("late_ps", "comes_ms"), [(0, 10), (1, 20)])
    def test_a_track_that_is_reached_too_late_comes_round_again(
        self, late_ps: int, comes_ms: int
    ) -> None:
        for reads in ("ahead", "until"):
            stream = read_ahead(1, 13)
            stream.begin(8, 10, 10 * MS + late_ps, 0, 0)
            if reads == "until":
                assert stream.read_until(11) == (comes_ms + 1) * MS
            else:
                stream.advance((comes_ms + 1) * MS - 1)
                assert stream.sector == 10
                stream.advance((comes_ms + 1) * MS)
                assert stream.sector == 11

    def test_one_that_came_to_a_stop_goes_on_from_then(self) -> None:
        stream = self.stream()
        stream.extend(20, 50 * MS)
        # it had reached sector 18, which comes round at 58 ms
        reached = []
        for time in (58, 59, 60):
            stream.advance(time * MS)
            reached.append(stream.sector)
        assert reached == [18, 19, 20]
        stream.extend(10, 60 * MS)
        assert stream.limit == 20

    def test_nothing_is_read_beyond_the_disk(self) -> None:
        stream = self.stream()
        stream.extend(10**9, 5 * MS)
        assert stream.limit == Geometry(ROUND).sectors

    def test_reading_up_to_a_sector(self) -> None:
        stream = self.stream()
        assert stream.read_until(9) == 9 * MS
        assert (stream.sector, stream.limit) == (9, 18)
        assert stream.read_until(19) == 19 * MS
        assert (stream.limit, stream.cylinder) == (19, 1)


class TestGeometry:
    def model(self) -> DiskModel:
        """Two zones of two heads: tracks of 20 and of 10 sectors, 60 sectors in all."""
        return replace(
            ROUND,
            heads=2,
            zones=2,
            capacity_bytes=70 * SECTOR,
            outer_rate_bps=20 * SECTOR * 8 * 100,
            inner_rate_bps=10 * SECTOR * 8 * 100,
        )

    def test_zones_are_equally_many_cylinders_and_the_last_holds_the_rest(self) -> None:
        geometry = Geometry(self.model())
        # 70 sectors at a mean of 15 on two heads in two zones: two cylinders each
        assert [
            (zone.first_sector, zone.first_cylinder, zone.track_sectors) for zone in geometry.zones
        ] == [(0, 0, 20), (80, 2, 10)]
        assert geometry.sectors == 70

    def test_places_on_both_heads(self) -> None:
        geometry = Geometry(self.model())
        found = [
            (place.cylinder, place.head, place.angle_ps, place.left)
            for place in map(geometry.place, (0, 19, 20, 41))
        ]
        assert found == [(0, 0, 0, 20), (0, 0, 9500 * US, 1), (0, 1, 0, 20), (1, 0, 500 * US, 19)]

    def test_skew_is_what_switching_takes_before_a_write(self) -> None:
        model = replace(
            self.model(),
            head_switch_ps=MS,
            write_settle_ps=MS // 2,
            seek_track_ps=2 * MS,
            seek_average_ps=2 * MS,
            seek_full_ps=2 * MS,
        )
        geometry = Geometry(model)
        assert (geometry.head_skew_ps, geometry.cylinder_skew_ps) == (1500 * US, 2500 * US)
        assert geometry.switch_ps == MS
        per_track = geometry.zones[0].track_sectors
        starts = [geometry.place(track * per_track).angle_ps for track in range(3)]
        assert starts == [0, 1500 * US, 4000 * US]

    def test_moving_to_a_place(self) -> None:
        geometry = Geometry(replace(self.model(), head_switch_ps=MS))
        place = geometry.place(geometry.zones[0].track_sectors)
        assert geometry.move_ps(0, 1, place) == 0
        assert geometry.move_ps(0, 0, place) == MS
        assert geometry.wait_ps(3 * MS, place) == (place.angle_ps - 3 * MS) % (10 * MS)
        assert geometry.pass_ps(3, place.zone) == 3 * 10 * MS // place.zone.track_sectors

    @pytest.mark.parametrize("cylinders", [1, 2, 3])
    def test_a_disk_of_few_cylinders_seeks_at_its_neighbour_times(self, cylinders: int) -> None:
        curve = SeekCurve(2 * MS, 2 * MS, 2 * MS, cylinders)
        assert curve.seek_ps(1) == 2 * MS
        assert curve.coefficients == (2 * MS, 0.0, 0.0)


class TestDrive:
    def flash(self) -> tuple[Simulator, FlashDisk, Driver]:
        sim = Simulator()
        disk = FlashDisk(sim, "ssd", DiskModel(**MODEL))
        return sim, disk, Driver(sim, disk)

    def test_counters_of_flash_to_the_picosecond(self) -> None:
        sim, disk, driver = self.flash()
        assert set(disk.counters().values()) == {0}
        driver.send(0, 16)
        driver.send(64, 4, at=500 * US, write=True)
        sim.run_until(10**11)
        assert driver.log == [(126, 0), (514, 64)]
        assert disk.counters() == {
            "commands": 2,
            "read_sectors": 16,
            "written_sectors": 4,
            "page_reads": 2,
            "page_programs": 1,
            "busy_ps": (126 + 14) * US,
            "command_ps": (126 + 14) * US,
            "residence_ps": (126 + 14) * US,
        }
        assert disk.in_disk == 0

    def test_two_commands_at_once_are_held_twice_and_busy_once(self) -> None:
        sim, disk, driver = self.flash()
        driver.send(0, 8)
        driver.send(8, 8)
        sim.run_until(10**11)
        # done at 118 and at 126 us
        counters = disk.counters()
        assert (counters["command_ps"], counters["busy_ps"]) == (244 * US, 126 * US)

    def test_the_queue_is_as_deep_as_it_is(self) -> None:
        sim = Simulator()
        disk = FlashDisk(sim, "ssd", DiskModel(**(MODEL | {"queue_depth": 1})))
        driver = Driver(sim, disk)
        assert disk.submit(Command(0, 8, write=False, owner=driver))
        assert disk.in_disk == 1
        assert not disk.submit(Command(8, 8, write=False, owner=driver))
        sim.run_until(MS)
        assert disk.submit(Command(7992, 8, write=False, owner=driver))

    @pytest.mark.parametrize(("sector", "sectors"), [(-1, 8), (0, 0), (7993, 8)])
    def test_sectors_that_there_are_not_are_refused(self, sector: int, sectors: int) -> None:
        _, disk, driver = self.flash()
        with pytest.raises(ValueError, match=r"ssd: .* is not within 8000"):
            disk.submit(Command(sector, sectors, write=False, owner=driver))

    def test_a_command_begins_nowhere(self) -> None:
        command = Command(5, 3, write=True, owner=None, tag="t")
        assert (command.end, command.submitted_ps, command.ready_ps, command.tag) == (8, 0, 0, "t")
        assert repr(command) == "<write 5+3>"

    def test_counters_of_a_mechanical_disk(self) -> None:
        sim = Simulator()
        disk = round_disk(sim, seek_track_ps=2 * MS, seek_average_ps=2 * MS, seek_full_ps=2 * MS)
        driver = Driver(sim, disk)
        driver.send(3, 2, at=MS)
        driver.send(20, 1, at=2 * MS, write=True)
        sim.run_until(10**12)
        assert disk.counters() == {
            "commands": 2,
            "read_sectors": 2,
            "written_sectors": 1,
            "hits": 0,
            "seeks": 1,
            "seek_cylinders": 2,
            # waits 2 ms for sector 3; seeks at 5 ms; sector 20 begins to pass at 14 ms
            "seek_ps": 2 * MS,
            "rotation_ps": 2 * MS + 7 * MS,
            "transfer_ps": 3 * MS,
            "busy_ps": 14 * MS,
            "command_ps": 4 * MS + 13 * MS,
            "residence_ps": 4 * MS + 13 * MS,
        }
        assert disk.waiting_for() is None


def reading_ps(geometry: Geometry, sector: int, sectors: int) -> int:
    """When sectors have been read from time 0 and the outermost track on, each track looked up."""
    now = cylinder = head = 0
    while sectors > 0:
        place = geometry.place(sector)
        count = min(sectors, place.left)
        now += geometry.move_ps(cylinder, head, place)
        now += geometry.wait_ps(now, place) + geometry.pass_ps(count, place.zone)
        cylinder, head = place.cylinder, place.head
        sector += count
        sectors -= count
    return now


def test_a_seek_takes_what_the_curve_says() -> None:
    for distance in (*range(1, 2000), *range(2000, LARGE.cylinders, 97)):
        expected = LARGE.curve.seek_ps(distance)
        assert SURFACE.move_ps(distance, switch=False, settle_ps=0) == expected
        assert SURFACE.move_ps(-distance, switch=True, settle_ps=US) == expected + US


@settings(max_examples=examples(200))
@given(st.floats(0, 1, exclude_max=True))
def test_a_sector_is_where_the_geometry_says(share: float) -> None:
    sector = int(share * LARGE.sectors)
    found, place = Place(), LARGE.place(sector)
    SURFACE.find(sector, found)
    assert (found.cylinder, found.head) == (place.cylinder, place.head)
    assert found.angle_ps == place.angle_ps


@settings(max_examples=examples(200))
@given(
    heads=st.integers(1, 3),
    zones=st.integers(1, 4),
    share=st.floats(0, 0.999),
    sectors=st.integers(1, 600),
    switch_us=st.integers(0, 900),
)
def test_track_after_track_is_where_the_geometry_says(
    heads: int, zones: int, share: float, sectors: int, switch_us: int
) -> None:
    """Over heads, cylinders and zones, by a command and by reading ahead."""
    model = replace(
        ROUND,
        heads=heads,
        zones=zones,
        capacity_bytes=600 * SECTOR,
        outer_rate_bps=20 * SECTOR * 8 * 100,
        head_switch_ps=switch_us * US,
        seek_track_ps=1100 * US,
        seek_average_ps=1100 * US,
        seek_full_ps=1100 * US,
        cache_bytes=1000 * SECTOR,
        cache_segments=1,
    )
    geometry, surface = Geometry(model), Surface(model)
    sector = int(share * (geometry.sectors - 1))
    sectors = min(sectors, geometry.sectors - sector)
    expected = reading_ps(geometry, sector, sectors)
    ahead = ReadAhead(surface)
    ahead.begin(sector, sector, 0, 0, 0)
    assert ahead.read_until(sector + sectors) == expected
    for now in (expected - 1, expected + 1):
        ahead = ReadAhead(surface)
        ahead.begin(sector, sector, 0, 0, 0)
        ahead.advance(now)
        assert (ahead.sector >= sector + sectors) == (now > expected)
    access = Command(sector, sectors, write=False, owner=None)
    mechanism = Mechanism(surface)
    mechanism.locate(access)
    assert mechanism.execute(access, 0) == expected
