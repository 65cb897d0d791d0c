"""The surface of a mechanical disk as tables, and what the disk reads ahead from it.

The geometry is that of `simnet.storage.disk.geometry`, to the picosecond, without an object a
sector. After a read the heads go on reading the following sectors until a command needs the arm or
the segment is full. How far they have come is arithmetic, computed when it is read.
"""

from __future__ import annotations

from array import array
from typing import Any

import cython
import numpy as np

from simnet.storage.disk.geometry import Geometry
from simnet.storage.disk.model import SECTOR_BYTES, DiskModel

__all__ = ["ReadAhead", "Surface"]

_SECTOR_BYTES = cython.declare(cython.longlong, SECTOR_BYTES)
_NS_PS = cython.declare(cython.longlong, 1000)
_MILLION = cython.declare(cython.longlong, 1_000_000)


@cython.final
@cython.cclass
class Surface:
    """Places and seek times of one kind of disk, as tables.

    Args:
        model: a mechanical disk; half of its buffer is for writes if these are cached.

    Attributes:
        at_track, at_left: of the sector found last, sectors of its track, and from it to the end.
        at_cylinder, at_head, at_angle_ps: its track, and when it passes the head.
        at_zone, at_start_ps: the zone of the track, and when the track's first sector passes.
    """

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
        self.seek_ns = _seek_table(geometry)
        self.segments = model.cache_segments
        buffer_sectors = model.cache_bytes // _SECTOR_BYTES
        self.write_sectors = buffer_sectors // 2 if model.write_cache else 0
        self.segment_sectors = (buffer_sectors - self.write_sectors) // max(self.segments, 1)
        self.at_track = 1
        self.at_left = 0
        self.at_cylinder = 0
        self.at_head = 0
        self.at_angle_ps = 0
        self.at_zone = 0
        self.at_start_ps = 0

    def zone_of(self, sector: cython.longlong) -> cython.int:
        """Which zone a sector is in."""
        low: cython.int = 0
        high: cython.int = self.zones
        middle: cython.int
        while high - low > 1:
            middle = (low + high) // 2
            if self.zone_sector[middle] <= sector:
                low = middle
            else:
                high = middle
        return low

    def bus_ps(self, sectors: cython.longlong) -> cython.longlong:
        """Time that a transfer takes on the disk's own lane."""
        # bits times 10**12 over the rate, in two steps that stay below 2**63
        millions: cython.longlong = sectors * (_SECTOR_BYTES * 8) * _MILLION
        whole: cython.longlong = millions // self.bus_rate_bps
        rest: cython.longlong = millions - whole * self.bus_rate_bps
        return whole * _MILLION + rest * _MILLION // self.bus_rate_bps

    def find(self, sector: cython.longlong) -> cython.int:
        """Find a sector; `at_track` and so on say where it is until the next call."""
        zone: cython.int = self.zone_of(sector)
        per_track: cython.longlong = self.zone_track[zone]
        inside: cython.longlong = sector - self.zone_sector[zone]
        track: cython.longlong = inside // per_track
        index: cython.longlong = inside - track * per_track
        skew_ps: cython.longlong
        self.at_zone = zone
        self.at_track = per_track
        self.at_left = per_track - index
        self.at_cylinder = track // self.heads
        self.at_head = track - self.at_cylinder * self.heads
        self.at_cylinder += self.zone_cylinder[zone]
        skew_ps = (self.at_cylinder * (self.heads - 1) + self.at_head) * self.head_skew_ps
        skew_ps += self.at_cylinder * self.cylinder_skew_ps
        self.at_start_ps = skew_ps % self.rotation_ps
        self.at_angle_ps = self.at_start_ps + index * self.rotation_ps // per_track
        if self.at_angle_ps >= self.rotation_ps:
            self.at_angle_ps -= self.rotation_ps
        return 0

    def find_next_track(self) -> cython.int:
        """Find the first sector of the track behind the one found last."""
        self.at_head += 1
        if self.at_head < self.heads:
            self.at_start_ps += self.head_skew_ps
        else:
            self.at_head = 0
            self.at_cylinder += 1
            self.at_start_ps += self.cylinder_skew_ps
            zone: cython.int = self.at_zone + 1
            if zone < self.zones and self.at_cylinder == self.zone_cylinder[zone]:
                self.at_zone = zone
                self.at_track = self.zone_track[zone]
        if self.at_start_ps >= self.rotation_ps:
            self.at_start_ps %= self.rotation_ps
        self.at_angle_ps = self.at_start_ps
        self.at_left = self.at_track
        return 0

    def pass_ps(self, sectors: cython.longlong) -> cython.longlong:
        """Time in which so many sectors of the track found last pass."""
        if sectors == self.at_track:
            return self.rotation_ps
        return sectors * self.rotation_ps // self.at_track

    def reach_ps(
        self,
        now: cython.longlong,
        cylinder: cython.longlong,
        head: cython.longlong,
        settle_ps: cython.longlong,
    ) -> cython.longlong:
        """When the heads, which are at a track now, are at the sector found last.

        Moving to another track takes `settle_ps` longer.
        """
        return self.arrive_ps(
            now, self.at_cylinder - cylinder, self.at_head != head, self.at_angle_ps, settle_ps
        )

    def arrive_ps(
        self,
        now: cython.longlong,
        distance: cython.longlong,
        switch: cython.bint,
        angle_ps: cython.longlong,
        settle_ps: cython.longlong,
    ) -> cython.longlong:
        """When an angle passes the heads, so many cylinders from here or at another head."""
        return self.pass_at(now + self.move_ps(distance, switch, settle_ps), angle_ps)

    def move_ps(
        self, distance: cython.longlong, switch: cython.bint, settle_ps: cython.longlong
    ) -> cython.longlong:
        """Time to a track so many cylinders away, or to another head; 0 to where the heads are."""
        time_ps: cython.longlong = 0
        if distance != 0:
            time_ps = self.seek_ns[distance if distance > 0 else -distance] * _NS_PS + settle_ps
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
    """What a disk goes on reading after a read, and what it has kept of earlier streams.

    Args:
        surface: of the disk.

    Attributes:
        going: the heads go on reading.
        start: first sector that the stream holds.
        sector: all before this one have been read at `time_ps`.
        cylinder, head: the track that is being read.
        limit: sector at which the segment is full.
    """

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self.going = False
        self.start = 0
        self.sector = 0
        self.time_ps = 0
        self.cylinder = 0
        self.head = 0
        self.limit = 0
        self.count = 0
        self.firsts = array("q", [0] * (surface.segments + 1))
        self.ends = array("q", [0] * (surface.segments + 1))

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
        begin_ps: cython.longlong
        end_ps: cython.longlong
        count: cython.longlong
        passed: cython.longlong
        if self.sector < self.limit and self.time_ps < now:
            surface.find(self.sector)
        while self.sector < self.limit and self.time_ps < now:
            begin_ps = surface.reach_ps(self.time_ps, self.cylinder, self.head, 0)
            count = min(self.limit - self.sector, surface.at_left)
            end_ps = begin_ps + surface.pass_ps(count)
            if end_ps > now:
                # within a track: whole sectors only
                if now <= begin_ps:
                    return 0
                passed = (now - begin_ps) * surface.at_track // surface.rotation_ps
                if passed == 0:
                    return 0
                count = min(passed, count)
                self._step(count, begin_ps + surface.pass_ps(count))
                return 0
            self._step(count, end_ps)
            surface.find_next_track()
        return 0

    def read_until(self, end: cython.longlong) -> cython.longlong:
        """Read up to the sector `end`, and return when that is done."""
        surface: Surface = self.surface
        begin_ps: cython.longlong
        count: cython.longlong
        if end > self.limit:
            self.limit = end
        if self.sector < end:
            surface.find(self.sector)
        while self.sector < end:
            begin_ps = surface.reach_ps(self.time_ps, self.cylinder, self.head, 0)
            count = min(end - self.sector, surface.at_left)
            self._step(count, begin_ps + surface.pass_ps(count))
            surface.find_next_track()
        return self.time_ps

    def _step(self, count: cython.longlong, time_ps: cython.longlong) -> cython.int:
        self.cylinder = self.surface.at_cylinder
        self.head = self.surface.at_head
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
        self.firsts[self.count] = first
        self.ends[self.count] = self.sector
        self.count += 1
        return 0

    def _remove(self, position: cython.int) -> cython.int:
        self.count -= 1
        while position < self.count:
            self.firsts[position] = self.firsts[position + 1]
            self.ends[position] = self.ends[position + 1]
            position += 1
        return 0

    def hold(self, sector: cython.longlong, end: cython.longlong) -> cython.bint:
        """Whether a kept range holds sectors; it is the last used one then."""
        position: cython.int
        first: cython.longlong
        last: cython.longlong
        for position in range(self.count):
            first = self.firsts[position]
            last = self.ends[position]
            if first <= sector and end <= last:
                self._remove(position)
                self.firsts[self.count] = first
                self.ends[self.count] = last
                self.count += 1
                return True
        return False

    def drop(self, sector: cython.longlong, end: cython.longlong) -> cython.int:
        """Forget ranges that are being overwritten."""
        position: cython.int = 0
        while position < self.count:
            if self.ends[position] <= sector or end <= self.firsts[position]:
                position += 1
            else:
                self._remove(position)
        return 0


def _seek_table(geometry: Geometry) -> Any:
    """Seek times by distance, in ns; the same arithmetic as `SeekCurve.seek_ps`."""
    distances = np.arange(geometry.cylinders + 1, dtype=np.float64)
    a, b, c = geometry.curve.coefficients
    table = ((a + b * np.sqrt(distances) + c * distances).astype(np.int64) + 500) // 1000
    table[0] = 0
    return memoryview(array("i", table.astype(np.int32).tobytes()))
