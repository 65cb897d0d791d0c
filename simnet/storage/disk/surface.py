"""The surface of a mechanical disk as tables, and what the disk reads ahead from it.

The geometry is that of `simnet.storage.disk.geometry`, to the picosecond, without an object a
sector. After a read the heads go on reading the following sectors until a command needs the arm or
the segment is full. How far they have come is arithmetic, computed when it is read.
"""

from array import array
from math import sqrt
from typing import Any

import cython

from simnet.kernel.compiled import Array
from simnet.storage.disk.geometry import Geometry
from simnet.storage.disk.model import SECTOR_BYTES, DiskModel

_SECTOR_BYTES: cython.longlong = SECTOR_BYTES
_NS_PS: cython.longlong = 1000
_HALF_NS_PS: cython.longlong = 500
_MILLION: cython.longlong = 1_000_000
# pieces of a disk whose first zone is in a table
_STRIPES = 256
# a kept range's mark has so many bits
_MARKS: cython.int = 0xFFFF


@cython.cclass
class Place:
    """Where a sector is; see `Surface.find`."""

    # its track
    cylinder: cython.longlong = 0
    head: cython.longlong = 0
    angle_ps: cython.longlong = 0  # when it passes the head, after the platter's zero position
    zone: cython.int = 0  # of the track
    # sectors of the track, and from this one to the track's end
    track_sectors: cython.longlong = 0
    left: cython.longlong = 0
    start_ps: cython.longlong = 0  # when the track's first sector passes


@cython.final
@cython.cclass
class Surface:
    """Places and seek times of one kind of disk; zones as tables."""

    model: Any = None  # a mechanical disk; half of its buffer is for writes if these are cached
    sectors: cython.longlong = 0
    rotation_ps: cython.longlong = 0
    heads: cython.longlong = 0
    switch_ps: cython.longlong = 0
    settle_ps: cython.longlong = 0
    overhead_ps: cython.longlong = 0
    bus_rate_bps: cython.longlong = 0
    age_limit_ps: cython.longlong = 0
    cylinders: cython.longlong = 0
    write_sectors: cython.longlong = 0
    head_skew_ps: cython.longlong = 0
    cylinder_skew_ps: cython.longlong = 0
    zones: cython.int = 0
    zone_sector: Array[cython.longlong] = None
    zone_cylinder: Array[cython.longlong] = None
    zone_track: Array[cython.longlong] = None
    stripe_bits: cython.int = 0
    stripe_zone: Array[cython.int] = None
    seek_a: cython.double = 0.0
    seek_b: cython.double = 0.0
    seek_c: cython.double = 0.0
    segments: cython.int = 0
    segment_sectors: cython.longlong = 0
    mark_bits: cython.int = 0
    bus_sectors: cython.longlong = 0
    known_bus_ps: cython.longlong = 0

    def __init__(self, model: DiskModel) -> None:
        if model.medium != "magnetic":
            raise ValueError(f"a {model.medium} disk has no surface")
        geometry = Geometry(model)
        self.model = model
        self.sectors = geometry.sectors
        self.rotation_ps = geometry.rotation_ps
        self.heads = geometry.heads
        self.switch_ps = geometry.switch_ps
        self.settle_ps = model.write_settle_ps
        self.overhead_ps = model.command_overhead_ps
        self.bus_rate_bps = model.bus_rate_bps
        self.age_limit_ps = model.queue_age_limit_ps
        self.cylinders = geometry.cylinders
        self.head_skew_ps = geometry.head_skew_ps
        self.cylinder_skew_ps = geometry.cylinder_skew_ps
        self.zones = len(geometry.zones)
        self.zone_sector = array("q", [zone.first_sector for zone in geometry.zones])
        self.zone_cylinder = array("q", [zone.first_cylinder for zone in geometry.zones])
        self.zone_track = array("q", [zone.track_sectors for zone in geometry.zones])
        self.stripe_bits = max(self.sectors // _STRIPES, 1).bit_length()
        stripes = range(0, self.sectors, 1 << self.stripe_bits)
        self.stripe_zone = array("i", [self._zone_of(first) for first in stripes])
        self.seek_a, self.seek_b, self.seek_c = geometry.curve.coefficients
        self.segments = model.cache_segments
        buffer_sectors = model.cache_bytes // _SECTOR_BYTES
        self.write_sectors = buffer_sectors // 2 if model.write_cache else 0
        self.segment_sectors = (buffer_sectors - self.write_sectors) // max(self.segments, 1)
        self.mark_bits = self.segment_sectors.bit_length()

    def _zone_of(self, sector: int) -> int:
        return sum(first <= sector for first in self.zone_sector) - 1

    def bus_ps(self, sectors: cython.longlong) -> cython.longlong:
        """Time that a transfer takes on the disk's own lane."""
        millions: cython.longlong
        whole: cython.longlong
        rest: cython.longlong
        if sectors != self.bus_sectors:
            # bits times 10**12 over the rate, in two steps that stay below 2**63
            millions = sectors * (_SECTOR_BYTES * 8) * _MILLION
            whole = millions // self.bus_rate_bps
            rest = millions - whole * self.bus_rate_bps
            self.known_bus_ps = whole * _MILLION + rest * _MILLION // self.bus_rate_bps
            self.bus_sectors = sectors
        return self.known_bus_ps

    def find(self, sector: cython.longlong, place: Place) -> cython.int:
        """Note where a sector is."""
        zone: cython.int = self.stripe_zone[sector >> self.stripe_bits]
        while zone + 1 < self.zones and self.zone_sector[zone + 1] <= sector:
            zone += 1
        per_track: cython.longlong = self.zone_track[zone]
        inside: cython.longlong = sector - self.zone_sector[zone]
        track: cython.longlong = inside // per_track
        index: cython.longlong = inside - track * per_track
        cylinder: cython.longlong = track // self.heads
        head: cython.longlong = track - cylinder * self.heads
        skew_ps: cython.longlong
        cylinder += self.zone_cylinder[zone]
        skew_ps = (cylinder * (self.heads - 1) + head) * self.head_skew_ps
        skew_ps += cylinder * self.cylinder_skew_ps
        place.zone = zone
        place.track_sectors = per_track
        place.left = per_track - index
        place.cylinder = cylinder
        place.head = head
        place.start_ps = skew_ps % self.rotation_ps
        place.angle_ps = place.start_ps + index * self.rotation_ps // per_track
        if place.angle_ps >= self.rotation_ps:
            place.angle_ps -= self.rotation_ps
        return 0

    def find_next_track(self, place: Place) -> cython.int:
        """Note the first sector of the track behind a place."""
        zone: cython.int
        place.head += 1
        if place.head < self.heads:
            place.start_ps += self.head_skew_ps
        else:
            place.head = 0
            place.cylinder += 1
            place.start_ps += self.cylinder_skew_ps
            zone = place.zone + 1
            if zone < self.zones and place.cylinder == self.zone_cylinder[zone]:
                place.zone = zone
                place.track_sectors = self.zone_track[zone]
        if place.start_ps >= self.rotation_ps:
            place.start_ps %= self.rotation_ps
        place.angle_ps = place.start_ps
        place.left = place.track_sectors
        return 0

    def pass_ps(self, sectors: cython.longlong, place: Place) -> cython.longlong:
        """Time in which so many sectors of a place's track pass."""
        if sectors == place.track_sectors:
            return self.rotation_ps
        return sectors * self.rotation_ps // place.track_sectors

    def reach_ps(
        self,
        now: cython.longlong,
        cylinder: cython.longlong,
        head: cython.longlong,
        settle_ps: cython.longlong,
        place: Place,
    ) -> cython.longlong:
        """When the heads, which are at a track now, are at a place.

        Moving to another track takes `settle_ps` longer.
        """
        move_ps: cython.longlong = self.move_ps(
            place.cylinder - cylinder, place.head != head, settle_ps
        )
        return self.pass_at(now + move_ps, place.angle_ps)

    def move_ps(
        self, distance: cython.longlong, switch: cython.bint, settle_ps: cython.longlong
    ) -> cython.longlong:
        """Time to a track so many cylinders away, or to another head; 0 to where the heads are."""
        time_ps: cython.longlong = 0
        cylinders: cython.double
        if distance != 0:
            # the arithmetic of `SeekCurve.seek_ps`: whole nanoseconds
            cylinders = distance if distance > 0 else -distance
            time_ps = cython.cast(
                cython.longlong,
                self.seek_a + self.seek_b * sqrt(cylinders) + self.seek_c * cylinders,
            )
            time_ps = (time_ps + _HALF_NS_PS) // _NS_PS * _NS_PS + settle_ps
        elif switch:
            time_ps = self.switch_ps + settle_ps
        return time_ps

    def pass_at(self, now: cython.longlong, angle_ps: cython.longlong) -> cython.longlong:
        """When an angle next passes the heads."""
        wait_ps: cython.longlong = angle_ps - now % self.rotation_ps
        if wait_ps < 0:
            wait_ps += self.rotation_ps
        return now + wait_ps


@cython.final
@cython.cclass
class ReadAhead:
    """What a disk goes on reading after a read, and what it has kept of earlier streams."""

    surface: Surface = None  # of the disk
    place: Place = None
    going: cython.bint = False  # the heads go on reading
    start: cython.longlong = 0  # first sector that the stream holds
    sector: cython.longlong = 0  # all before this one have been read at `time_ps`
    time_ps: cython.longlong = 0
    # the track that is being read
    cylinder: cython.longlong = 0
    head: cython.longlong = 0
    limit: cython.longlong = 0  # sector at which the segment is full
    count: cython.int = 0
    firsts: Array[cython.longlong] = None
    ends: Array[cython.longlong] = None
    marks: Array[cython.ushort] = None

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self.place = Place()
        self.firsts = array("q", [0] * (surface.segments + 1))
        self.ends = array("q", [0] * (surface.segments + 1))
        self.marks = array("H", [0] * (surface.segments + 1))

    def begin(
        self,
        start: cython.longlong,
        end: cython.longlong,
        time_ps: cython.longlong,
        cylinder: cython.longlong,
        head: cython.longlong,
    ) -> cython.int:
        """A read from `start` to `end` has been done at `time_ps`: go on."""
        if self.surface.segments == 0:
            return 0
        self.going = True
        self.start = start
        self.sector = end
        self.time_ps = time_ps
        self.cylinder = cylinder
        self.head = head
        self.limit = end
        return self.extend(end + self.surface.segment_sectors, time_ps)

    def extend(self, limit: cython.longlong, now: cython.longlong) -> cython.int:
        """Read up to `limit`; if it had come to a stop, it goes on from now."""
        self.advance(now)
        if self.sector == self.limit:
            self.time_ps = now
        if limit > self.surface.sectors:
            limit = self.surface.sectors
        if limit > self.limit:
            self.limit = limit
        return 0

    def advance(self, now: cython.longlong) -> cython.int:
        """Read until now."""
        surface: Surface = self.surface
        place: Place = self.place
        begin_ps: cython.longlong
        end_ps: cython.longlong
        count: cython.longlong
        passed: cython.longlong
        if self.sector < self.limit and self.time_ps < now:
            surface.find(self.sector, place)
        while self.sector < self.limit and self.time_ps < now:
            begin_ps = surface.reach_ps(self.time_ps, self.cylinder, self.head, 0, place)
            count = min(self.limit - self.sector, place.left)
            end_ps = begin_ps + surface.pass_ps(count, place)
            if end_ps > now:
                # within a track: whole sectors only
                if now <= begin_ps:
                    return 0
                passed = (now - begin_ps) * place.track_sectors // surface.rotation_ps
                if passed == 0:
                    return 0
                count = min(passed, count)
                self._step(count, begin_ps + surface.pass_ps(count, place))
                return 0
            self._step(count, end_ps)
            surface.find_next_track(place)
        return 0

    def read_until(self, end: cython.longlong) -> cython.longlong:
        """Read up to the sector `end`, and return when that is done."""
        surface: Surface = self.surface
        place: Place = self.place
        begin_ps: cython.longlong
        count: cython.longlong
        if end > self.limit:
            self.limit = end
        if self.sector < end:
            surface.find(self.sector, place)
        while self.sector < end:
            begin_ps = surface.reach_ps(self.time_ps, self.cylinder, self.head, 0, place)
            count = min(end - self.sector, place.left)
            self._step(count, begin_ps + surface.pass_ps(count, place))
            surface.find_next_track(place)
        return self.time_ps

    def _step(self, count: cython.longlong, time_ps: cython.longlong) -> cython.int:
        self.cylinder = self.place.cylinder
        self.head = self.place.head
        self.sector += count
        self.time_ps = time_ps
        return 0

    def stop(self, now: cython.longlong) -> cython.int:
        """The arm is needed: keep what has been read; the oldest range makes room."""
        first: cython.longlong
        if not self.going:
            return 0
        self.advance(now)
        self.going = False
        first = max(self.start, self.sector - self.surface.segment_sectors)
        if first >= self.sector:
            return 0
        if self.count == self.surface.segments:
            self._remove(0)
        self._keep(first, self.sector)
        return 0

    def _keep(self, first: cython.longlong, end: cython.longlong) -> cython.int:
        """Add a range, as the one that was used last."""
        self.firsts[self.count] = first
        self.ends[self.count] = end
        self.marks[self.count] = first >> self.surface.mark_bits & _MARKS
        self.count += 1
        return 0

    def _remove(self, position: cython.int) -> cython.int:
        self.count -= 1
        while position < self.count:
            self.firsts[position] = self.firsts[position + 1]
            self.ends[position] = self.ends[position + 1]
            self.marks[position] = self.marks[position + 1]
            position += 1
        return 0

    def _may_overlap(self, sector: cython.longlong, end: cython.longlong) -> cython.bint:
        """Whether a kept range can have some of these sectors, judged by the marks alone.

        A range is no longer than the sectors of one mark. So what overlaps as few sectors has the
        mark of the first of them, the one before or the one behind.
        """
        position: cython.int
        found: cython.int = 0
        before: cython.int = (sector >> self.surface.mark_bits) - 1 & _MARKS
        behind: cython.int = 2
        if end - sector > cython.cast(cython.longlong, 1) << self.surface.mark_bits:
            return True
        for position in range(self.count):
            found |= (self.marks[position] - before & _MARKS) <= behind
        return found != 0

    def hold(self, sector: cython.longlong, end: cython.longlong) -> cython.bint:
        """Whether a kept range holds sectors; it is the last used one then."""
        position: cython.int
        first: cython.longlong
        last: cython.longlong
        if not self._may_overlap(sector, end):
            return False
        for position in range(self.count):
            first = self.firsts[position]
            last = self.ends[position]
            if first <= sector and end <= last:
                self._remove(position)
                self._keep(first, last)
                return True
        return False

    def drop(self, sector: cython.longlong, end: cython.longlong) -> cython.int:
        """Forget ranges that are being overwritten."""
        position: cython.int = 0
        if not self._may_overlap(sector, end):
            return 0
        while position < self.count:
            if self.ends[position] <= sector or end <= self.firsts[position]:
                position += 1
            else:
                self._remove(position)
        return 0
