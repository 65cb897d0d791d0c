"""A disk's buffer: what it has read ahead, and what it has not yet written.

Read-ahead: after a read the heads go on reading the following sectors until a command needs the
arm or the segment is full. How far they have come is arithmetic, computed when it is read.
"""

from __future__ import annotations

from simnet.storage.disk.geometry import Geometry

__all__ = ["Segments", "Stream", "WriteBuffer"]


class Stream:
    """Sequential reading that goes on by itself after a read.

    Attributes:
        start: first sector that the segment holds.
        sector: all before this one have been read at `time_ps`.
        time_ps: when they had been.
        cylinder, head: the track that is being read.
        limit: sector at which the segment is full.
    """

    def __init__(
        self, geometry: Geometry, start: int, sector: int, time_ps: int, track: tuple[int, int]
    ) -> None:
        self.geometry = geometry
        self.start = start
        self.sector = sector
        self.time_ps = time_ps
        self.cylinder, self.head = track
        self.limit = sector

    def extend(self, limit: int, now_ps: int) -> None:
        """Let it read up to `limit`; if it had come to a stop, it goes on from now."""
        self.advance(now_ps)
        if self.sector == self.limit:
            self.time_ps = now_ps
        self.limit = max(self.limit, min(limit, self.geometry.sectors))

    def advance(self, now_ps: int) -> int:
        """Read until `now_ps`; return the sector reached."""
        while self.sector < self.limit and self.time_ps < now_ps:
            begin_ps, count, end_ps = self._chunk(self.limit - self.sector)
            if end_ps > now_ps:
                # within a track: whole sectors only
                zone = self.geometry.place(self.sector).zone
                passed = (now_ps - begin_ps) * zone.track_sectors // self.geometry.rotation_ps
                if passed > 0:
                    count = min(passed, count)
                    self._step(count, begin_ps + self.geometry.pass_ps(count, zone))
                break
            self._step(count, end_ps)
        return self.sector

    def read_until(self, end: int) -> int:
        """Read up to the sector `end`, and return when that is done."""
        self.limit = max(self.limit, end)
        while self.sector < end:
            _, count, end_ps = self._chunk(end - self.sector)
            self._step(count, end_ps)
        return self.time_ps

    def _chunk(self, most: int) -> tuple[int, int, int]:
        """Return begin, number of sectors and end of what is read next within a track."""
        geometry = self.geometry
        place = geometry.place(self.sector)
        now_ps = self.time_ps + geometry.move_ps(self.cylinder, self.head, place)
        begin_ps = now_ps + geometry.wait_ps(now_ps, place)
        count = min(most, place.left)
        return begin_ps, count, begin_ps + geometry.pass_ps(count, place.zone)

    def _step(self, count: int, time_ps: int) -> None:
        place = self.geometry.place(self.sector)
        self.cylinder, self.head = place.cylinder, place.head
        self.sector += count
        self.time_ps = time_ps


class Segments:
    """Ranges of sectors that the buffer holds of earlier streams, the last used one last.

    Args:
        count: how many streams; 0 for none.
        sectors: of each.
    """

    def __init__(self, count: int, sectors: int) -> None:
        self.count = count
        self.sectors = sectors
        self._ranges: list[tuple[int, int]] = []

    def keep(self, start: int, end: int) -> None:
        """Keep what a stream has read; the oldest range makes room."""
        if self.count == 0 or end <= start:
            return
        self._ranges.append((max(start, end - self.sectors), end))
        if len(self._ranges) > self.count:
            del self._ranges[0]

    def hold(self, sector: int, end: int) -> bool:
        """Whether one of the ranges holds the sectors; it is the last used one then."""
        for position, (first, last) in enumerate(self._ranges):
            if first <= sector and end <= last:
                self._ranges.append(self._ranges.pop(position))
                return True
        return False

    def drop(self, sector: int, end: int) -> None:
        """Forget ranges that are being overwritten."""
        self._ranges = [pair for pair in self._ranges if pair[1] <= sector or end <= pair[0]]


class WriteBuffer:
    """Written sectors that are not on the medium, as ranges.

    Args:
        capacity: in sectors.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.used = 0
        self.extents: list[tuple[int, int]] = []

    def room(self, sectors: int) -> bool:
        """Whether so many sectors fit."""
        return self.used + sectors <= self.capacity

    def put(self, sector: int, sectors: int) -> None:
        """Take written sectors; a range that ends where they begin grows."""
        self.used += sectors
        for position, (first, last) in enumerate(self.extents):
            if last == sector:
                self.extents[position] = (first, sector + sectors)
                return
        self.extents.append((sector, sector + sectors))

    def hold(self, sector: int, end: int) -> bool:
        """Whether one range holds all these sectors."""
        return any(first <= sector and end <= last for first, last in self.extents)

    def take(self, position: int) -> tuple[int, int]:
        """Take a range out, to be written; `used` counts it until `written`."""
        return self.extents.pop(position)

    def written(self, sectors: int) -> None:
        """So many sectors are on the medium."""
        self.used -= sectors
