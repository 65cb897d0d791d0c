"""Where a sector is on a mechanical disk, and how long the arm and the platter take to get there.

Zones, skew and the seek curve after Ruemmler and Wilkes, "An introduction to disk drive modeling"
(IEEE Computer 27(3), 1994). The tracks of a cylinder follow each other by head, cylinders from the
outside inwards. Each track starts later than the one before it by the time that switching to it
takes before a write (skew), so a sequential transfer loses just that time at the end of a track:
the sustained rate of a data sheet is a track's bytes in a revolution and the mean skew.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass

from simnet.host.costs import whole_ns
from simnet.storage.disk.model import SECTOR_BYTES, DiskModel

_SECOND_PS = 10**12
# Mean of d and of sqrt(d) for the distance d of two random places of a line of length 1.
_MEAN_DISTANCE = 1 / 3
_MEAN_ROOT = 8 / 15


class SeekCurve:
    """Seek time by distance: a + b sqrt(d) + c d, through the three figures of a data sheet.

    The root is the arm's acceleration, the linear part its coasting, the constant its settling. The
    three figures (neighbour track, mean over random seeks, full stroke) give three equations that
    are linear in a, b and c. Only additions, products and square roots of doubles are used, which
    IEEE 754 fixes to the last bit.

    Args:
        track_ps: a seek of one cylinder.
        average_ps: mean over all seeks between two random cylinders.
        full_ps: across all cylinders.
        cylinders: of the disk.

    Raises:
        ValueError: no such curve rises from the first figure to the last.
    """

    def __init__(self, track_ps: int, average_ps: int, full_ps: int, cylinders: int) -> None:
        longest = max(cylinders - 1, 1)
        root = math.sqrt(longest)
        rise_mean, rise_full = average_ps - track_ps, full_ps - track_ps
        mean_root, mean_line = _MEAN_ROOT * root - 1, _MEAN_DISTANCE * longest - 1
        full_root, full_line = root - 1, longest - 1
        determinant = mean_root * full_line - mean_line * full_root
        if abs(determinant) < 1:
            # hardly any cylinders: a straight line is all there is to say
            self._b = 0.0
            self._c = rise_full / full_line if full_line > 0 else 0.0
        else:
            self._b = (rise_mean * full_line - rise_full * mean_line) / determinant
            self._c = (mean_root * rise_full - full_root * rise_mean) / determinant
        self._a = track_ps - self._b - self._c
        self._known = {0: 0}
        slopes = [self._b / (2 * math.sqrt(d)) + self._c for d in (1, longest)]
        if min(*slopes, rise_full) < 0:
            message = (
                f"no seek curve rises through {track_ps} ps (track to track), {average_ps} ps"
                f" (average) and {full_ps} ps (full stroke)"
            )
            raise ValueError(message)

    @property
    def coefficients(self) -> tuple[float, float, float]:
        """a, b and c, in ps."""
        return self._a, self._b, self._c

    def seek_ps(self, distance: int) -> int:
        """Time of a seek over `distance` cylinders, in whole nanoseconds; 0 for none."""
        time_ps = self._known.get(distance)
        if time_ps is None:
            time_ps = whole_ns(int(self._a + self._b * math.sqrt(distance) + self._c * distance))
            self._known[distance] = time_ps
        return time_ps


@dataclass(frozen=True)
class Zone:
    """Neighbouring cylinders whose tracks have equally many sectors."""

    first_sector: int
    first_cylinder: int
    track_sectors: int


@dataclass(frozen=True)
class Place:
    """Where a sector is: its track, and the angle at which the track's sector passes the head."""

    # the track
    cylinder: int
    head: int
    angle_ps: int  # time after the platter's zero position at which the sector begins
    left: int  # sectors from this one to the end of the track
    zone: Zone  # the track's zone


class Geometry:
    """The tracks of a disk, and its seek curve."""

    def __init__(self, model: DiskModel) -> None:
        self.rotation_ps = 60 * _SECOND_PS // model.rpm  # one revolution
        self.heads = model.heads
        self.sectors = model.sectors
        self.switch_ps = model.head_switch_ps
        self.head_skew_ps = model.head_switch_ps + model.write_settle_ps
        self.cylinder_skew_ps = model.seek_track_ps + model.write_settle_ps
        self.zones: list[Zone] = []  # from the outside inwards
        counts = self._track_sectors(model)
        mean = sum(counts) / len(counts)
        per_zone = math.ceil(self.sectors / (mean * model.heads * len(counts)))
        sector = 0
        for number, count in enumerate(counts):
            self.zones.append(Zone(sector, number * per_zone, count))
            sector += per_zone * model.heads * count
        last = self.zones[-1]
        inside = math.ceil((self.sectors - last.first_sector) / (model.heads * last.track_sectors))
        # cylinders, as many as the capacity needs
        self.cylinders = last.first_cylinder + max(inside, 1)
        self._starts = [zone.first_sector for zone in self.zones]
        # seek times
        self.curve = SeekCurve(
            model.seek_track_ps, model.seek_average_ps, model.seek_full_ps, self.cylinders
        )

    def _track_sectors(self, model: DiskModel) -> list[int]:
        """Sectors of a track by zone, from the sustained rates at both ends."""
        skews_ps = (self.heads - 1) * self.head_skew_ps + self.cylinder_skew_ps
        track_ps = self.rotation_ps + skews_ps // self.heads
        rates = (model.outer_rate_bps, model.inner_rate_bps)
        outer, inner = (
            max(rate * track_ps // (_SECOND_PS * 8 * SECTOR_BYTES), 1) for rate in rates
        )
        steps = max(model.zones - 1, 1)
        return [outer - (outer - inner) * zone // steps for zone in range(model.zones)]

    def place(self, sector: int) -> Place:
        """Find a sector."""
        zone = self.zones[bisect_right(self._starts, sector) - 1]
        track, index = divmod(sector - zone.first_sector, zone.track_sectors)
        cylinder, head = divmod(track, self.heads)
        cylinder += zone.first_cylinder
        skew_ps = (cylinder * (self.heads - 1) + head) * self.head_skew_ps
        skew_ps += cylinder * self.cylinder_skew_ps
        angle_ps = (skew_ps + index * self.rotation_ps // zone.track_sectors) % self.rotation_ps
        return Place(cylinder, head, angle_ps, zone.track_sectors - index, zone)

    def move_ps(self, cylinder: int, head: int, place: Place) -> int:
        """Time from one track to another: a seek, or a switch of heads, or nothing."""
        if cylinder != place.cylinder:
            return self.curve.seek_ps(abs(cylinder - place.cylinder))
        return 0 if head == place.head else self.switch_ps

    def wait_ps(self, now_ps: int, place: Place) -> int:
        """Time until a sector begins to pass the head."""
        return (place.angle_ps - now_ps) % self.rotation_ps

    def pass_ps(self, count: int, zone: Zone) -> int:
        """Time that sectors of one track take to pass."""
        return count * self.rotation_ps // zone.track_sectors
