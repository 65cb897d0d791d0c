"""The disks of a RAID array, with the block layer's queue before each and the SAS paths behind.

Arm, platters, read-ahead and the order of commands are `simnet.storage.disk.mechanism`, for a disk
without write cache. All that is known of a disk's surface is in tables that all disks share.

Before the disk is the block layer of Linux 3.10: `nr_requests` of each direction are in the
scheduler, others wait for a place, and the disk gets `queue_depth` commands. noop passes requests
on as they came; deadline is block/deadline-iosched.c (`deadline_dispatch_requests`). Requests are
not merged: a disk that reads ahead, or has the next write already, loses no time between them.

Behind the disk are SAS paths that several disks share. What a command moves is booked when the
disk begins with it, as work that the path does one after the other; the command ends when the disk
and every path are done. So a path never carries more than its rate, and adds nothing while it
keeps up with its disks.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.component import Component
from simnet.kernel.priority import WIRE
from simnet.kernel.simulator import Simulator
from simnet.storage.disk.mechanism import Access, Mechanism
from simnet.storage.disk.model import SECTOR_BYTES
from simnet.storage.disk.surface import Surface

_SECTOR_BYTES: cython.longlong = SECTOR_BYTES
# read_expire, write_expire, writes_starved and fifo_batch of deadline
_READ_EXPIRE_PS: cython.longlong = 500 * 10**9
_WRITE_EXPIRE_PS: cython.longlong = 5000 * 10**9
_WRITES_STARVED: cython.int = 2
_FIFO_BATCH: cython.int = 16
_MEDIUM: cython.int = 0
_BUFFER: cython.int = 1


@cython.cclass
class StripOwner(Component):
    """Who sends strips to disks, a component."""

    def strip_done(self, strip: Strip) -> cython.int:
        """A strip has been read or written."""
        raise NotImplementedError(self.path)


@cython.final
@cython.cclass
class Strip(Access):
    """A command for one disk; made by `new_strip`."""

    owner: Public[StripOwner] = None  # hears when it is done
    tag: Public[Any] = None  # the owner's
    index: Public[cython.int] = 0  # the owner's


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
    return strip


@cython.final
@cython.cclass
class SasPath:
    """A path that several disks share."""

    name: str = None  # for people
    bytes_s: cython.longlong = 0  # what it carries in a second, one way and the other together
    sector_ps: cython.longlong = 0
    free_ps: cython.longlong = 0  # when it has done all that was booked
    bytes: cython.longlong = 0  # booked so far

    def __init__(self, name: str, bytes_s: int) -> None:
        self.name = name
        self.bytes_s = bytes_s
        self.sector_ps = -(-_SECTOR_BYTES * 10**12 // bytes_s)

    def book(self, now: cython.longlong, sectors: cython.longlong) -> cython.longlong:
        """Let it carry so many sectors; return when it has."""
        if self.free_ps < now:
            self.free_ps = now
        self.free_ps += sectors * self.sector_ps
        self.bytes += sectors * _SECTOR_BYTES
        return self.free_ps


@cython.final
@cython.cclass
class Pdisk(Component):
    """One disk of an array, and the block layer's queue before it."""

    surface: Surface = None  # shared by all disks of its kind
    mechanism: Mechanism = None
    lane: SasPath = None  # the path to its enclosure, shared with other disks
    adapter: SasPath = None  # the adapters of the server, likewise
    nr_requests: cython.int = 0  # of each direction in the scheduler
    queue_depth: cython.int = 0  # commands that the disk is given at once
    deadline: cython.bint = False  # the scheduler is deadline; else noop
    queue: list[Any] = None
    reads: list[Any] = None
    writes: list[Any] = None
    served: list[Any] = None
    hits: cython.longlong = 0  # reads that needed no access to the medium
    following: Strip = None
    batching: cython.int = 0
    starved: cython.int = 0
    active: Strip = None
    event: cython.longlong = 0
    begun_ps: cython.longlong = 0
    bus_free_ps: cython.longlong = 0
    held: cython.longlong = 0  # commands in the disk and before it
    largest: cython.longlong = 0  # most of them at any time
    changed_ps: cython.longlong = 0
    held_ps: cython.longlong = 0  # commands in it and before it, over time (ps times commands)
    # done
    commands: cython.longlong = 0
    read_sectors: cython.longlong = 0
    written_sectors: cython.longlong = 0
    busy_ps: cython.longlong = 0  # time that the disk worked on commands
    failed: cython.bint = False  # it answers no more

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
        if surface.write_sectors > 0:
            raise ValueError(f"{path}: an array's disk writes without a cache")
        self.surface = surface
        self.mechanism = Mechanism(surface)
        self.lane = lane
        self.adapter = adapter
        self.nr_requests = nr_requests
        self.queue_depth = min(queue_depth, surface.model.queue_depth)
        self.deadline = deadline
        self.queue = []
        self.reads = []
        self.writes = []
        self.served = []

    def counters(self) -> dict[str, int]:
        """Commands and sectors done, time that it worked, commands held over time."""
        self._count(0)
        names = (
            *("commands", "read_sectors", "written_sectors", "hits", "busy_ps", "held_ps"),
            "largest",
        )
        return {name: getattr(self, name) for name in names}

    def worked_ps(self) -> int:
        """Time that it has worked on commands until now."""
        return self.busy_ps + (self.sim.now - self.begun_ps if self.active is not None else 0)

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
        lost: list[Any] = [*self.served, *self.queue, *self.reads, *self.writes]
        if self.active is not None:
            self.sim.cancel(self.event)
            self.busy_ps += self.sim.now - self.begun_ps
            lost.insert(0, self.active)
        self._count(-len(lost))
        self.failed = True
        self.active = None
        self.following = None
        self.served = []
        self.queue = []
        self.reads = []
        self.writes = []
        return lost

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The disk is done with a command, or its lane with one from the buffer."""
        strip: Strip
        if kind == _BUFFER:
            if not self.failed:
                strip = self.served[0]
                del self.served[0]
                self._complete(strip)
            return
        strip = self.active
        self.busy_ps += self.sim.now - self.begun_ps
        self.active = None
        self._start()
        self._complete(strip)

    def _complete(self, strip: Strip) -> cython.int:
        self._count(-1)
        self.commands += 1
        if strip.write:
            self.written_sectors += strip.sectors
        else:
            self.read_sectors += strip.sectors
        if self.held >= self.queue_depth:
            self._dispatch()
        return strip.owner.strip_done(strip)

    def _count(self, change: cython.longlong) -> cython.int:
        """Add up commands over time."""
        self.held_ps += self.held * (self.sim.now - self.changed_ps)
        self.changed_ps = self.sim.now
        self.held += change
        if self.held > self.largest:
            self.largest = self.held
        return 0

    # -- the block layer ------------------------------------------------------------------

    def _dispatch(self) -> cython.int:
        """Pass one of the waiting commands on to the disk."""
        chosen: list[Any]
        strip: Strip
        if not self.deadline:
            return self._oldest()
        strip = self.following
        if strip is None or self.batching >= _FIFO_BATCH:
            if self.reads and not (self.writes and self._writes_starved()):
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

    def _writes_starved(self) -> cython.bint:
        """Whether it is the writes' turn although there are reads."""
        self.starved += 1
        return self.starved > _WRITES_STARVED

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

    def _take(self, strip: Strip) -> cython.int:
        """The disk has a command."""
        surface: Surface = self.surface
        mechanism: Mechanism = self.mechanism
        end: cython.longlong = strip.sector + strip.sectors
        strip.ready_ps = self.sim.now + surface.overhead_ps
        if strip.write:
            mechanism.overwrite(strip.sector, end, self.sim.now)
            # its data come first
            if self.bus_free_ps < strip.ready_ps:
                self.bus_free_ps = strip.ready_ps
            self.bus_free_ps += surface.bus_ps(strip.sectors)
            strip.ready_ps = self.bus_free_ps
        elif mechanism.holds(strip.sector, end, self.sim.now, self.active is None):
            return self._serve(strip)
        mechanism.locate(strip)
        if self.active is None and not self.queue:
            mechanism.follow(self.sim.now)
            return self._execute(strip)
        self.queue.append(strip)
        return self._start()

    def _serve(self, strip: Strip) -> cython.int:
        """Complete a read from the buffer."""
        end_ps: cython.longlong = max(strip.ready_ps, self.bus_free_ps)
        self.hits += 1
        end_ps = self._lanes(end_ps + self.surface.bus_ps(strip.sectors), strip.sectors)
        self.bus_free_ps = end_ps
        self.served.append(strip)
        self.sim.at(end_ps, self, _BUFFER, 0, WIRE)
        return 0

    def _lanes(self, end_ps: cython.longlong, sectors: cython.longlong) -> cython.longlong:
        """When the SAS paths have carried a command that the disk is done with at `end_ps`."""
        end_ps = max(end_ps, self.lane.book(self.sim.now, sectors))
        return max(end_ps, self.adapter.book(self.sim.now, sectors))

    def _start(self) -> cython.int:
        """Let the idle mechanism take on the next command."""
        mechanism: Mechanism = self.mechanism
        position: cython.int
        strip: Strip
        if self.active is not None or not self.queue:
            return 0
        mechanism.follow(self.sim.now)
        position = mechanism.choose(self.queue, self.sim.now)
        strip = self.queue.pop() if len(self.queue) == 1 else self.queue.pop(position)
        return self._execute(strip)

    def _execute(self, strip: Strip) -> cython.int:
        """Let the idle mechanism take on a command."""
        end_ps: cython.longlong = self.mechanism.execute(strip, self.sim.now)
        self.active = strip
        self.begun_ps = self.sim.now
        self.event = self.sim.at(self._lanes(end_ps, strip.sectors), self, _MEDIUM, 0, WIRE)
        return 0
