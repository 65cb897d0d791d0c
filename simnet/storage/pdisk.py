"""The disks of a RAID array, with the block layer's queue before each and the SAS paths behind.

The mechanism is that of `simnet.storage.disk`: the same geometry, seek curve and order of commands
(the least time until the first sector passes), to the picosecond, for a disk without write cache
that does not read ahead. What is left out makes it some twenty times cheaper: an event a command,
and all that is known of a disk's surface in tables that all disks share.

Before the disk is the block layer of Linux 3.10: `nr_requests` of each direction are in the
scheduler, others wait for a place, and the disk gets `queue_depth` commands. noop passes requests
on as they came; deadline is block/deadline-iosched.c (`deadline_dispatch_requests`). Requests are
not merged: strips are as large as requests may be.

Behind the disk are SAS paths that several disks share. What a command moves is booked when the
disk begins with it, as work that the path does one after the other; the command ends when the disk
and every path are done. So a path never carries more than its rate, and adds nothing while it
keeps up with its disks.
"""

from __future__ import annotations

from array import array
from typing import Any

import cython
import numpy as np

from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator
from simnet.storage.geometry import Geometry
from simnet.storage.model import SECTOR_BYTES, DiskModel

if not cython.compiled:
    from simnet.kernel.priority import WIRE

__all__ = ["Pdisk", "SasPath", "Strip", "StripOwner", "Surface", "new_strip"]

# read_expire, write_expire, writes_starved and fifo_batch of deadline
_READ_EXPIRE_PS = cython.declare(cython.longlong, 500 * 10**9)
_WRITE_EXPIRE_PS = cython.declare(cython.longlong, 5000 * 10**9)
_WRITES_STARVED = cython.declare(cython.int, 2)
_FIFO_BATCH = cython.declare(cython.int, 16)
_NS_PS = cython.declare(cython.longlong, 1000)


@cython.cclass
class StripOwner(Component):
    """Who sends strips to disks, a component."""

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def strip_done(self, strip: Strip) -> cython.int:
        """A strip has been read or written."""
        raise NotImplementedError(self.path)


@cython.final
@cython.freelist(4096)
@cython.cclass
class Strip:
    """A command for one disk; made by `new_strip`.

    Attributes:
        owner: hears when it is done.
        tag: the owner's.
        index: the owner's.
        sector, sectors: where, how many.
        write: False for a read.
        submitted_ps: when the disk's queue took it.
        taken: the disk has it.
    """

    owner: StripOwner
    tag: Any
    index: cython.int
    sector: cython.longlong
    sectors: cython.longlong
    write: cython.bint
    submitted_ps: cython.longlong
    ready_ps: cython.longlong
    cylinder: cython.longlong
    head: cython.longlong
    angle_ps: cython.longlong
    taken: cython.bint


@cython.ccall
def new_strip(
    owner: StripOwner,
    tag: Any,
    index: cython.int,
    sector: cython.longlong,
    sectors: cython.longlong,
    write: cython.bint,
) -> Strip:
    """Make a command; the arguments are its attributes."""
    strip: Strip = Strip.__new__(Strip)
    strip.owner = owner
    strip.tag = tag
    strip.index = index
    strip.sector = sector
    strip.sectors = sectors
    strip.write = write
    strip.submitted_ps = 0
    strip.ready_ps = 0
    strip.cylinder = 0
    strip.head = 0
    strip.angle_ps = 0
    strip.taken = False
    return strip


@cython.final
@cython.cclass
class SasPath:
    """A path that several disks share.

    Args:
        name: for people.
        bytes_s: what it carries in a second, one way and the other together.

    Attributes:
        free_ps: when it has done all that was booked.
        bytes: booked so far.
        delayed: commands that ended later because of it.
    """

    name: str
    bytes_s: cython.longlong
    sector_ps: cython.longlong
    free_ps: cython.longlong
    bytes: cython.longlong
    delayed: cython.longlong

    def __init__(self, name: str, bytes_s: int) -> None:
        self.name = name
        self.bytes_s = bytes_s
        self.sector_ps = -(-SECTOR_BYTES * 10**12 // bytes_s)
        self.free_ps = 0
        self.bytes = 0
        self.delayed = 0

    @cython.ccall
    @cython.exceptval(-1)
    def book(self, now: cython.longlong, sectors: cython.longlong) -> cython.longlong:
        """Let it carry so many sectors; return when it has."""
        if self.free_ps < now:
            self.free_ps = now
        self.free_ps += sectors * self.sector_ps
        self.bytes += sectors * SECTOR_BYTES
        return self.free_ps


@cython.final
@cython.cclass
class Surface:
    """Places and seek times of one kind of disk, as tables.

    Args:
        model: a mechanical disk.
    """

    model: Any
    sectors: cython.longlong
    rotation_ps: cython.longlong
    heads: cython.longlong
    switch_ps: cython.longlong
    settle_ps: cython.longlong
    overhead_ps: cython.longlong
    bus_sectors: cython.longlong
    bus_time_ps: cython.longlong
    age_limit_ps: cython.longlong
    sptf: cython.bint
    head_skew_ps: cython.longlong
    cylinder_skew_ps: cython.longlong
    zones: cython.int
    zone_sector: Any
    zone_cylinder: Any
    zone_track: Any
    seek_ns: Any

    def __init__(self, model: DiskModel) -> None:
        if model.medium != "magnetic":
            raise ValueError(f"a {model.medium} disk has no surface")
        if model.queue_policy not in {"fcfs", "sptf"}:
            raise ValueError(f"queue_policy {model.queue_policy!r} is not one of fcfs, sptf")
        geometry = Geometry(model)
        self.model = model
        self.sectors = geometry.sectors
        self.rotation_ps = geometry.rotation_ps
        self.heads = geometry.heads
        self.switch_ps = geometry.switch_ps
        self.settle_ps = model.write_settle_ps
        self.overhead_ps = model.command_overhead_ps
        self.bus_sectors = 0
        self.bus_time_ps = 0
        self.age_limit_ps = model.queue_age_limit_ps
        self.sptf = model.queue_policy == "sptf"
        self.head_skew_ps = geometry.head_skew_ps
        self.cylinder_skew_ps = geometry.cylinder_skew_ps
        self.zones = len(geometry.zones)
        self.zone_sector = array("q", [zone.first_sector for zone in geometry.zones])
        self.zone_cylinder = array("q", [zone.first_cylinder for zone in geometry.zones])
        self.zone_track = array("q", [zone.track_sectors for zone in geometry.zones])
        self.seek_ns = _seek_table(geometry)

    @cython.ccall
    @cython.exceptval(-1, check=False)
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

    @cython.ccall
    @cython.exceptval(-1)
    def bus_ps(self, sectors: cython.longlong) -> cython.longlong:
        """Time that a transfer takes on the disk's own lane."""
        if sectors != self.bus_sectors:
            # most commands are as long as the one before
            self.bus_sectors = sectors
            self.bus_time_ps = self.model.bus_ps(sectors)
        return self.bus_time_ps

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def locate(self, strip: Strip) -> cython.int:
        """Note where a command begins."""
        zone: cython.int = self.zone_of(strip.sector)
        per_track: cython.longlong = self.zone_track[zone]
        inside: cython.longlong = strip.sector - self.zone_sector[zone]
        track: cython.longlong = inside // per_track
        index: cython.longlong = inside - track * per_track
        skew_ps: cython.longlong
        strip.head = track % self.heads
        strip.cylinder = track // self.heads + self.zone_cylinder[zone]
        skew_ps = (strip.cylinder * (self.heads - 1) + strip.head) * self.head_skew_ps
        skew_ps += strip.cylinder * self.cylinder_skew_ps
        strip.angle_ps = (skew_ps + index * self.rotation_ps // per_track) % self.rotation_ps
        return 0


@cython.final
@cython.cclass
class Pdisk(Component):
    """One disk of an array, and the block layer's queue before it.

    Args:
        sim: the simulation.
        path: component path.
        surface: shared by all disks of its kind.
        lane: the path to its enclosure, and
        adapter: the adapters of the server, both shared with other disks.
        nr_requests: of each direction in the scheduler.
        queue_depth: commands that the disk is given at once.
        deadline: the scheduler is deadline; else noop.

    Attributes:
        held: commands in the disk and before it.
        largest: most of them at any time.
        commands, read_sectors, written_sectors: done.
        busy_ps: time that the disk worked on commands.
        held_ps: commands in it and before it, over time (ps times commands).
        failed: it answers no more.
    """

    surface: Surface
    lane: SasPath
    adapter: SasPath
    nr_requests: cython.int
    queue_depth: cython.int
    deadline: cython.bint
    queue: list[Any]
    reads: list[Any]
    writes: list[Any]
    following: Strip
    batching: cython.int
    starved: cython.int
    active: Strip
    event: cython.longlong
    begun_ps: cython.longlong
    bus_free_ps: cython.longlong
    cylinder: cython.longlong
    head: cython.longlong
    held: cython.longlong
    largest: cython.longlong
    changed_ps: cython.longlong
    held_ps: cython.longlong
    commands: cython.longlong
    read_sectors: cython.longlong
    written_sectors: cython.longlong
    busy_ps: cython.longlong
    failed: cython.bint

    def __init__(
        self,
        sim: Simulator,
        path: str,
        surface: Surface,
        lane: SasPath,
        adapter: SasPath,
        *,
        nr_requests: int,
        queue_depth: int,
        deadline: bool,
    ) -> None:
        super().__init__(sim, path)
        self.surface = surface
        self.lane = lane
        self.adapter = adapter
        self.nr_requests = nr_requests
        self.queue_depth = min(queue_depth, surface.model.queue_depth)
        self.deadline = deadline
        self.queue = []
        self.reads = []
        self.writes = []
        self.following = None
        self.batching = 0
        self.starved = 0
        self.active = None
        self.event = 0
        self.begun_ps = 0
        self.bus_free_ps = 0
        self.cylinder = 0
        self.head = 0
        self.held = 0
        self.largest = 0
        self.changed_ps = 0
        self.held_ps = 0
        self.commands = 0
        self.read_sectors = 0
        self.written_sectors = 0
        self.busy_ps = 0
        self.failed = False

    def counters(self) -> dict[str, int]:
        """Commands and sectors done, time that it worked, commands held over time."""
        self._count(0)
        names = ("commands", "read_sectors", "written_sectors", "busy_ps", "held_ps", "largest")
        return {name: getattr(self, name) for name in names}

    def worked_ps(self) -> int:
        """Time that it has worked on commands until now."""
        return self.busy_ps + (self.sim.now - self.begun_ps if self.active is not None else 0)

    def waiting_for(self) -> str | None:
        """Nothing: whatever it holds has an event."""
        return None

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def submit(self, strip: Strip) -> cython.int:
        """Take a command; its owner hears when it is done.

        Raises:
            ValueError: sectors that the disk does not have, or it has failed.
        """
        if strip.sector < 0 or strip.sectors < 1 or self.failed:
            raise ValueError(f"{self.path}: cannot do {strip.sector}+{strip.sectors}")
        if strip.sector + strip.sectors > self.surface.sectors:
            raise ValueError(f"{self.path}: {strip.sector}+{strip.sectors} is beyond the disk")
        self._count(1)
        strip.submitted_ps = self.sim.now
        if self.held <= self.queue_depth:
            self._take(strip)
        elif strip.write:
            self.writes.append(strip)
        else:
            self.reads.append(strip)
        return 0

    def fail(self) -> list[Any]:
        """The disk answers no more; return the commands that will not be done."""
        lost: list[Any] = [*self.queue, *self.reads, *self.writes]
        if self.active is not None:
            self.sim.cancel(self.event)
            self.busy_ps += self.sim.now - self.begun_ps
            lost.insert(0, self.active)
        self._count(-len(lost))
        self.failed = True
        self.active = None
        self.following = None
        self.queue = []
        self.reads = []
        self.writes = []
        return lost

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The disk is done with a command."""
        strip: Strip = self.active
        self.busy_ps += self.sim.now - self.begun_ps
        self.active = None
        self._count(-1)
        self.commands += 1
        if strip.write:
            self.written_sectors += strip.sectors
        else:
            self.read_sectors += strip.sectors
        self._start()
        if self.held >= self.queue_depth:
            self._dispatch()
        strip.owner.strip_done(strip)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _count(self, change: cython.longlong) -> cython.int:
        """Add up commands over time."""
        self.held_ps += self.held * (self.sim.now - self.changed_ps)
        self.changed_ps = self.sim.now
        self.held += change
        if self.held > self.largest:
            self.largest = self.held
        return 0

    # -- the block layer ------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _dispatch(self) -> cython.int:
        """Pass one of the waiting commands on to the disk."""
        chosen: list[Any]
        strip: Strip
        if not self.deadline:
            return self._oldest()
        strip = self.following
        if strip is None or self.batching >= _FIFO_BATCH:
            if self.reads and not (self.writes and self._starve()):
                chosen = self.reads
            else:
                self.starved = 0
                chosen = self.writes
            strip = self._begin(chosen)
            self.batching = 0
        self.batching += 1
        chosen = self.writes if strip.write else self.reads
        self.following = self._next_above(chosen, strip)
        chosen.remove(strip)
        return self._take(strip)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _oldest(self) -> cython.int:
        """noop: the one that has waited longest; a read of two."""
        strip: Strip = None
        other: Strip = None
        if self.reads:
            strip = self.reads[0]
        if self.writes:
            other = self.writes[0]
        if strip is None or (other is not None and other.submitted_ps < strip.submitted_ps):
            strip = other
            del self.writes[0]
        else:
            del self.reads[0]
        return self._take(strip)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _starve(self) -> cython.bint:
        """Whether it is the writes' turn although there are reads."""
        self.starved += 1
        return self.starved > _WRITES_STARVED

    @cython.cfunc
    def _begin(self, waiting: list[Any]) -> Strip:
        """The first of a batch: the one after the last in this direction, or the oldest."""
        oldest: Strip = waiting[0]
        limit_ps: cython.longlong = _WRITE_EXPIRE_PS if oldest.write else _READ_EXPIRE_PS
        after: Strip = self.following
        if after is None or after.write != oldest.write:
            return oldest
        if self.sim.now - oldest.submitted_ps > limit_ps:
            return oldest
        return after

    @cython.cfunc
    def _next_above(self, waiting: list[Any], strip: Strip) -> Strip:
        """The next one in the scheduler with a higher sector; None if there is none."""
        count: cython.int = min(len(waiting), self.nr_requests)
        position: cython.int
        best: Strip = None
        other: Strip
        for position in range(count):
            other = waiting[position]
            if other.sector > strip.sector and (best is None or other.sector < best.sector):
                best = other
        return best

    # -- the disk -------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _take(self, strip: Strip) -> cython.int:
        """The disk has a command."""
        surface: Surface = self.surface
        strip.ready_ps = self.sim.now + surface.overhead_ps
        strip.taken = True
        if strip.write:
            # its data come first
            if self.bus_free_ps < strip.ready_ps:
                self.bus_free_ps = strip.ready_ps
            self.bus_free_ps += surface.bus_ps(strip.sectors)
            strip.ready_ps = self.bus_free_ps
        surface.locate(strip)
        self.queue.append(strip)
        return self._start()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _start(self) -> cython.int:
        """Let the idle mechanism take on the next command."""
        position: cython.int
        end_ps: cython.longlong
        start_ps: cython.longlong
        lane_ps: cython.longlong
        strip: Strip
        if self.active is not None or not self.queue:
            return 0
        position = self._choose()
        strip = self.queue[position]
        del self.queue[position]
        self.active = strip
        self.begun_ps = self.sim.now
        start_ps = max(self.sim.now, strip.ready_ps)
        end_ps = self._transfer(start_ps, strip)
        if not strip.write:
            end_ps = max(end_ps, start_ps + self.surface.bus_ps(strip.sectors))
        lane_ps = self.lane.book(self.sim.now, strip.sectors)
        if lane_ps > end_ps:
            self.lane.delayed += 1
            end_ps = lane_ps
        lane_ps = self.adapter.book(self.sim.now, strip.sectors)
        if lane_ps > end_ps:
            self.adapter.delayed += 1
            end_ps = lane_ps
        self.event = self.sim.at(end_ps, self, 0, 0, WIRE)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _choose(self) -> cython.int:
        """The position of the command that goes next."""
        surface: Surface = self.surface
        count: cython.int = len(self.queue)
        strip: Strip = self.queue[0]
        now: cython.longlong = self.sim.now
        base_ps: cython.longlong = now % surface.rotation_ps
        rotation_ps: cython.longlong = surface.rotation_ps
        after_ps: cython.longlong
        angle_ps: cython.longlong
        distance: cython.longlong
        best_ps: cython.longlong = -1
        best: cython.int = 0
        position: cython.int
        if count == 1 or not surface.sptf:
            return 0
        if surface.age_limit_ps > 0 and now - strip.submitted_ps > surface.age_limit_ps:
            return 0
        for position in range(count):
            strip = self.queue[position]
            after_ps = 0
            if strip.ready_ps > now:
                after_ps = strip.ready_ps - now
            if strip.cylinder != self.cylinder:
                distance = strip.cylinder - self.cylinder
                if distance < 0:
                    distance = -distance
                after_ps += surface.seek_ns[distance] * _NS_PS
                if strip.write:
                    after_ps += surface.settle_ps
            elif strip.head != self.head:
                after_ps += surface.switch_ps
                if strip.write:
                    after_ps += surface.settle_ps
            angle_ps = strip.angle_ps - (base_ps + after_ps) % rotation_ps
            if angle_ps < 0:
                angle_ps += rotation_ps
            after_ps += angle_ps
            if best_ps < 0 or after_ps < best_ps:
                best_ps = after_ps
                best = position
        return best

    @cython.cfunc
    @cython.exceptval(-1)
    def _transfer(self, now: cython.longlong, strip: Strip) -> cython.longlong:
        """Seek, wait and pass sectors, track by track; return the end."""
        surface: Surface = self.surface
        zone: cython.int = surface.zone_of(strip.sector)
        sector: cython.longlong = strip.sector
        left: cython.longlong = strip.sectors
        cylinder: cython.longlong = strip.cylinder
        head: cython.longlong = strip.head
        angle_ps: cython.longlong = strip.angle_ps
        per_track: cython.longlong = surface.zone_track[zone]
        rotation_ps: cython.longlong = surface.rotation_ps
        distance: cython.longlong
        wait_ps: cython.longlong
        count: cython.longlong
        # how much of the first track lies behind the first sector
        passed: cython.longlong = (sector - surface.zone_sector[zone]) % per_track
        while True:
            distance = cylinder - self.cylinder
            if distance < 0:
                distance = -distance
            if distance > 0:
                now += surface.seek_ns[distance] * _NS_PS
                if strip.write:
                    now += surface.settle_ps
            elif head != self.head:
                now += surface.switch_ps
                if strip.write:
                    now += surface.settle_ps
            self.cylinder = cylinder
            self.head = head
            wait_ps = angle_ps - now % rotation_ps
            if wait_ps < 0:
                wait_ps += rotation_ps
            count = min(left, per_track - passed)
            now += wait_ps + count * rotation_ps // per_track
            left -= count
            if left == 0:
                return now
            # the next track begins with its first sector
            sector += count
            passed = 0
            head += 1
            if head == surface.heads:
                head = 0
                cylinder += 1
                if zone + 1 < surface.zones and cylinder == surface.zone_cylinder[zone + 1]:
                    zone += 1
                    per_track = surface.zone_track[zone]
            angle_ps = (cylinder * (surface.heads - 1) + head) * surface.head_skew_ps
            angle_ps = (angle_ps + cylinder * surface.cylinder_skew_ps) % rotation_ps


def _seek_table(geometry: Geometry) -> Any:
    """Seek times by distance, in ns; the same arithmetic as `SeekCurve.seek_ps`."""
    distances = np.arange(geometry.cylinders + 1, dtype=np.float64)
    a, b, c = geometry.curve.coefficients
    table = ((a + b * np.sqrt(distances) + c * distances).astype(np.int64) + 500) // 1000
    table[0] = 0
    return memoryview(array("i", table.astype(np.int32).tobytes()))
