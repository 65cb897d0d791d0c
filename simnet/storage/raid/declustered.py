"""Declustered RAID: tracks of strips over all disks of an array, read, written and reconstructed.

GPFS Native RAID cuts a file-system block into 8 data strips and adds 2 or 3 parity strips; the
strips of a track lie on as many disks of the array, chosen so that all disks and all pairs of
disks share the work (IBM, "GPFS Native RAID Version 3 Release 5 Administration", SC27-6567:
declustered array, track, strip, spare space). Here a row of tracks is on the disks
start + i * stride, with start and stride from a hash of the row and stride prime to the number of
disks: no two tracks have the same place of a disk.

- A read reads the strips that it touches. For one on a failed disk it reads the same range of as
  many others as a track has data strips, and computes it.
- A full-track write writes all strips and reads nothing.
- A write to a part of a track reads what it needs for the parity, the old data and parity or the
  data that it does not touch, whichever are fewer strips, and writes its strips and the parity.
- A strip on a failed disk is not written; rebuilding writes it to another disk of the array, the
  first one that works of those where the row has spare space.

Every strip that is read is checked and every track that is written is encoded by the server's
CPUs, strip by strip.
"""

from __future__ import annotations

from array import array
from typing import Any

import cython

from simnet.errors import SimulationError
from simnet.kernel.simulator import Simulator
from simnet.storage.disk.model import SECTOR_BYTES
from simnet.storage.disk.surface import Surface
from simnet.storage.nsd.cpu_pool import CpuPool
from simnet.storage.nsd.model import NsdServerModel, RaidModel
from simnet.storage.raid.pdisk import Pdisk, SasPath, Strip, StripOwner, new_strip
from simnet.storage.raid.track import TrackLayout, TrackOp, TrackOwner

if not cython.compiled:
    from simnet.kernel.priority import CPU

__all__ = ["DeclusteredRaid"]

_SECTOR_BYTES = cython.declare(cython.longlong, SECTOR_BYTES)
_KIB_BITS = cython.declare(cython.int, 10)
_ALIGN = cython.declare(cython.int, 8)

_READ = cython.declare(cython.int, 0)
_FULL = cython.declare(cython.int, 1)
_PART = cython.declare(cython.int, 2)
_REBUILD = cython.declare(cython.int, 3)
# stages of an operation: what it reads, the CPUs' work on it, what it writes
_READING = cython.declare(cython.int, 0)
_WORKING = cython.declare(cython.int, 1)
_WRITING = cython.declare(cython.int, 2)


@cython.final
@cython.cclass
class DeclusteredRaid(StripOwner):
    """The arrays of one server.

    Args:
        sim: the simulation.
        path: component path.
        model: of the arrays.
        server: what its CPUs need.
        surface: of the disks.
        cpus: of the server.
        block_bytes: data of a track.
        nsds: vdisks, dealt out to the arrays in turn.

    Attributes:
        disks: all of them, array by array.
        lanes: SAS paths, one an enclosure.
        adapter: the SAS adapters.
        layout: where tracks are.
        reads, full_writes, part_writes, rebuilt: operations done.
        read_ps, write_ps: time that these took.
        lost_disk: of each array, what is being rebuilt; -1 for none.
        rebuilt_to: of each vdisk, the first track whose strip has not been rebuilt.
        reconstructed: strips that were computed instead of read.
        unwritten: strips that were not written because their disk has failed.
        busy: operations under way.
    """

    def __init__(
        self,
        sim: Simulator,
        path: str,
        model: RaidModel,
        server: NsdServerModel,
        surface: Surface,
        cpus: CpuPool,
        *,
        block_bytes: int,
        nsds: int,
    ) -> None:
        super().__init__(sim, path)
        self.model = model
        self.layout = TrackLayout(path, model, surface.sectors, block_bytes, nsds)
        self.width = model.width
        self.data = model.data_strips
        self.count = model.array_disks
        self.arrays = model.arrays
        self.strip_sectors = self.layout.strip_sectors
        self.most_sectors = model.max_sectors_bytes // _SECTOR_BYTES
        self.adapter = SasPath(f"{path}.sas", model.adapter_bytes_s)
        self.lanes: list[Any] = [
            SasPath(f"{path}.enclosure{n}", model.lane_paths * model.path_bytes_s)
            for n in range(model.enclosures)
        ]
        self.disks: list[Any] = [
            Pdisk(
                sim,
                f"{path}.array{a}.pdisk{d}",
                surface,
                self.lanes[d % model.enclosures],
                self.adapter,
                nr_requests=model.nr_requests,
                queue_depth=model.queue_depth,
                deadline=model.scheduler == "deadline",
            )
            for a in range(self.arrays)
            for d in range(self.count)
        ]
        self.cpus = cpus
        self.check_ps_kib = server.checksum_ps_kib
        self.parity_ps_kib = server.parity_ps_kib
        self.ops: list[Any] = []
        self.free: list[Any] = []
        self.failures = 0
        self.rebuilt_to = array("q", [0] * nsds)
        self.lost_disk = array("i", [-1] * self.arrays)
        self.reads = 0
        self.full_writes = 0
        self.part_writes = 0
        self.rebuilt = 0
        self.reconstructed = 0
        self.unwritten = 0
        self.read_ps = 0
        self.write_ps = 0
        self.busy = 0

    def counters(self) -> dict[str, int]:
        """Operations by kind, their times, and what failed disks cost."""
        names = (
            *("reads", "full_writes", "part_writes", "rebuilt", "reconstructed", "unwritten"),
            *("read_ps", "write_ps", "busy"),
        )
        return {name: getattr(self, name) for name in names}

    # -- operations -----------------------------------------------------------------------

    def read(
        self,
        nsd: cython.int,
        track: cython.longlong,
        begin: cython.longlong,
        end: cython.longlong,
        owner: TrackOwner,
        tag: Any,
    ) -> cython.int:
        """Read the bytes from `begin` to `end` of a track."""
        op: TrackOp = self._begin(_READ, nsd, track, begin, end, owner, tag)
        self._read_range(op)
        return self._next_stage(op)

    def write(
        self,
        nsd: cython.int,
        track: cython.longlong,
        begin: cython.longlong,
        end: cython.longlong,
        owner: TrackOwner,
        tag: Any,
    ) -> cython.int:
        """Write the bytes from `begin` to `end` of a track, all of it or a part."""
        full: cython.bint = begin == 0 and end == self.strip_sectors * self.data * _SECTOR_BYTES
        op: TrackOp = self._begin(_FULL if full else _PART, nsd, track, begin, end, owner, tag)
        if not full:
            self._read_for_parity(op)
        return self._next_stage(op)

    def rebuild(self, nsd: cython.int, track: cython.longlong, owner: TrackOwner) -> cython.bint:
        """Compute a track's strip of `lost_disk` and write it elsewhere; False if there is none.

        `rebuilt_to` has to follow when it is done: see `simnet.storage.raid.rebuild`.
        """
        op: TrackOp = self._begin(
            _REBUILD, nsd, track, 0, self.strip_sectors * _SECTOR_BYTES, owner, None
        )
        index: cython.int = self._lost_strip(op)
        if index < 0:
            self._end(op)
            return False
        op.first = index
        op.last = index
        self._read_others(op, 0, self.strip_sectors, self.data)
        self._next_stage(op)
        return True

    def _begin(
        self,
        kind: cython.int,
        nsd: cython.int,
        track: cython.longlong,
        begin: cython.longlong,
        end: cython.longlong,
        owner: TrackOwner,
        tag: Any,
    ) -> TrackOp:
        """Find the disks of a track."""
        op: TrackOp = TrackOp.__new__(TrackOp)
        strip_bytes: cython.longlong = self.strip_sectors * _SECTOR_BYTES
        op.owner = owner
        op.tag = tag
        op.kind = kind
        op.stage = _READING
        op.nsd = nsd
        op.track = track
        self.layout.locate(op)
        op.begin = begin
        op.end = end
        op.first = begin // strip_bytes
        op.last = (end - 1) // strip_bytes
        op.low = 0
        op.high = self.strip_sectors
        op.asked = 0
        op.waiting = 0
        op.begun_ps = self.sim.now
        op.ready_ps = self.sim.now
        self.busy += 1
        if self.free:
            op.slot = self.free.pop()
            self.ops[op.slot] = op
        else:
            op.slot = len(self.ops)
            self.ops.append(op)
        return op

    def _end(self, op: TrackOp) -> cython.int:
        self.busy -= 1
        self.ops[op.slot] = None
        self.free.append(op.slot)
        return 0

    def _next_stage(self, op: TrackOp) -> cython.int:
        """Go on if nothing is awaited: the CPUs' work, then writing, then the end."""
        if op.waiting > 0:
            return 0
        if op.stage == _READING:
            op.stage = _WORKING
            self._work(op)
            if op.ready_ps > self.sim.now:
                self.sim.at(op.ready_ps, self, 0, op.slot, CPU)
                return 0
        if op.stage == _WORKING:
            op.stage = _WRITING
            if op.kind != _READ:
                self._write_strips(op)
                if op.waiting > 0:
                    return 0
        return self._done(op)

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The CPUs' work on a track is done."""
        self._next_stage(self.ops[arg])

    def _done(self, op: TrackOp) -> cython.int:
        self._end(op)
        if op.kind == _READ:
            self.reads += 1
            self.read_ps += self.sim.now - op.begun_ps
        elif op.kind == _FULL:
            self.full_writes += 1
            self.write_ps += self.sim.now - op.begun_ps
        elif op.kind == _PART:
            self.part_writes += 1
            self.write_ps += self.sim.now - op.begun_ps
        else:
            self.rebuilt += 1
        op.owner.track_done(op)
        return 0

    def _work(self, op: TrackOp) -> cython.int:
        """Encode what will be written, in as many pieces as a track has data strips."""
        work: cython.longlong
        if op.kind == _READ:
            return 0
        if op.kind == _REBUILD:
            return self._decode(op, self.strip_sectors)
        work = (op.end - op.begin >> _KIB_BITS) * (self.check_ps_kib + self.parity_ps_kib)
        for _ in range(self.data):
            op.ready_ps = max(op.ready_ps, self.cpus.book(self.sim.now, work // self.data))
        return 0

    # -- strips ---------------------------------------------------------------------------

    def disk_of(self, op: TrackOp, index: cython.int) -> cython.int:
        """The disk that has a strip: of the track's sequence, or where it was rebuilt."""
        disk: cython.int = self.layout.member(op, index)
        member: Pdisk
        if self.failures == 0:
            return op.array * self.count + disk
        if disk == self.lost_disk[op.array] and (
            op.track < self.rebuilt_to[op.nsd] or (op.kind == _REBUILD and op.stage == _WRITING)
        ):
            index = self.width
            member = self.disks[op.array * self.count + disk]
            while member.failed:
                disk = self.layout.member(op, index)
                member = self.disks[op.array * self.count + disk]
                index += 1
        return op.array * self.count + disk

    def _lost_strip(self, op: TrackOp) -> cython.int:
        """Which strip is on the disk that is being rebuilt."""
        index: cython.int
        for index in range(self.width):
            if self.layout.member(op, index) == self.lost_disk[op.array]:
                return index
        return -2

    def _ask(
        self,
        op: TrackOp,
        index: cython.int,
        low: cython.longlong,
        high: cython.longlong,
        write: cython.bint,
    ) -> cython.bint:
        """Read or write sectors `low` to `high` of a strip; False if its disk has failed."""
        disk: Pdisk = self.disks[self.disk_of(op, index)]
        sectors: cython.longlong
        if disk.failed:
            return False
        op.asked |= cython.cast(cython.longlong, 1) << index
        while low < high:
            sectors = min(high - low, self.most_sectors)
            op.waiting += 1
            disk.submit(new_strip(self, op, index, op.sector + low, sectors, write))
            low += sectors
        return True

    def _low(self, op: TrackOp, index: cython.int) -> cython.longlong:
        """Where in a strip the range of an operation begins, in sectors, aligned."""
        if index > op.first:
            return 0
        sectors: cython.longlong = op.begin // _SECTOR_BYTES - index * self.strip_sectors
        return sectors - sectors % _ALIGN

    def _high(self, op: TrackOp, index: cython.int) -> cython.longlong:
        """Where in a strip the range of an operation ends."""
        if index < op.last:
            return self.strip_sectors
        sectors: cython.longlong = (op.end + _SECTOR_BYTES - 1) // _SECTOR_BYTES
        sectors -= index * self.strip_sectors
        return sectors + (_ALIGN - sectors % _ALIGN) % _ALIGN

    def _works(self, op: TrackOp, index: cython.int) -> cython.bint:
        disk: Pdisk = self.disks[self.disk_of(op, index)]
        return not disk.failed

    def _read_range(self, op: TrackOp) -> cython.int:
        """Read the strips of a range, and what a failed disk's are computed from."""
        index: cython.int
        missing: cython.int = 0
        found: cython.int = 0
        low: cython.longlong = self.strip_sectors
        high: cython.longlong = 0
        if self.failures > 0:
            for index in range(op.first, op.last + 1):
                if not self._works(op, index):
                    missing += 1
                    low = min(low, self._low(op, index))
                    high = max(high, self._high(op, index))
        if missing == 0:
            for index in range(op.first, op.last + 1):
                self._ask(op, index, self._low(op, index), self._high(op, index), False)
            return 0
        self.reconstructed += missing
        for index in range(op.first, op.last + 1):
            if self._works(op, index):
                found += 1
                self._ask(
                    op,
                    index,
                    min(low, self._low(op, index)),
                    max(high, self._high(op, index)),
                    False,
                )
        self._decode(op, missing * (high - low))
        return self._read_others(op, low, high, self.data - found)

    def _decode(self, op: TrackOp, sectors: cython.longlong) -> cython.int:
        """Compute sectors of strips that cannot be read, from all data strips."""
        work: cython.longlong = (sectors * self.data * _SECTOR_BYTES >> _KIB_BITS) * (
            self.parity_ps_kib
        )
        op.ready_ps = max(op.ready_ps, self.cpus.book(self.sim.now, work))
        return 0

    def _read_others(
        self, op: TrackOp, low: cython.longlong, high: cython.longlong, count: cython.int
    ) -> cython.int:
        """Read a range of so many strips that have not been asked for."""
        index: cython.int
        for index in range(self.width):
            if count == 0:
                return 0
            if op.asked >> index & 1 == 0 and self._ask(op, index, low, high, False):
                count -= 1
        if count > 0:
            message = f"track {op.track} of vdisk {op.nsd} is lost: too many disks have failed"
            raise SimulationError(message, component=self.path, time_ps=self.sim.now)
        return 0

    def _read_for_parity(self, op: TrackOp) -> cython.int:
        """Read what the parity of a part is computed from."""
        touched: cython.int = op.last - op.first + 1
        whole: cython.int = 0
        broken: cython.int = 0
        lost: cython.int = 0
        index: cython.int
        if touched == 1:
            op.low = self._low(op, op.first)
            op.high = self._high(op, op.first)
        for index in range(self.width):
            if index >= op.first and index <= op.last:
                whole += self._low(op, index) <= op.low and self._high(op, index) >= op.high
            if not self._works(op, index):
                broken += 1
                lost += index < self.data
        if broken > 0:
            if lost > 0:
                self._decode(op, lost * (op.high - op.low))
            return self._read_others(op, op.low, op.high, self.data)
        if touched + self.width - self.data <= self.data - whole:
            # the old data and the old parity
            for index in range(op.first, op.last + 1):
                self._ask(op, index, self._low(op, index), self._high(op, index), False)
            for index in range(self.data, self.width):
                self._ask(op, index, op.low, op.high, False)
            return 0
        for index in range(self.data):
            if (
                index < op.first
                or index > op.last
                or self._low(op, index) > op.low
                or self._high(op, index) < op.high
            ):
                self._ask(op, index, op.low, op.high, False)
        return 0

    def _write_strips(self, op: TrackOp) -> cython.int:
        """Write what an operation is about."""
        index: cython.int
        if op.kind == _REBUILD:
            self._ask(op, op.first, 0, self.strip_sectors, True)
            return 0
        for index in range(self.width):
            if index >= self.data:
                self.unwritten += not self._ask(op, index, op.low, op.high, True)
            elif index >= op.first and index <= op.last:
                self.unwritten += not self._ask(
                    op, index, self._low(op, index), self._high(op, index), True
                )
        return 0

    def strip_done(self, strip: Strip) -> cython.int:
        """A strip has been read, and is checked, or written."""
        op: TrackOp = strip.tag
        work: cython.longlong
        if not strip.write:
            work = (strip.sectors * _SECTOR_BYTES >> _KIB_BITS) * self.check_ps_kib
            op.ready_ps = max(op.ready_ps, self.cpus.book(self.sim.now, work))
        op.waiting -= 1
        return self._next_stage(op)

    # -- failures -------------------------------------------------------------------------

    def fail_disk(self, array_: int, disk: int) -> None:
        """A disk answers no more; what it was reading is computed from others.

        Raises:
            ValueError: no such disk, or it has failed before.
        """
        if not (0 <= array_ < self.arrays and 0 <= disk < self.count):
            raise ValueError(f"{self.path}: no disk {disk} in array {array_}")
        member: Pdisk = self.disks[array_ * self.count + disk]
        if member.failed:
            raise ValueError(f"{member.path} has failed before")
        lost: list[Any] = member.fail()
        self.failures += 1
        strip: Strip
        for strip in lost:
            self._replace(strip)

    def _replace(self, strip: Strip) -> cython.int:
        """A command of a disk that has failed: compute what it would have read."""
        op: TrackOp = strip.tag
        low: cython.longlong = strip.sector - op.sector
        if strip.write:
            self.unwritten += 1
        else:
            self.reconstructed += 1
            if op.last - op.first + 1 < self.data or strip.sectors < self.strip_sectors:
                # the others may not have been asked for this range
                op.asked = cython.cast(cython.longlong, 1) << strip.index
                self._read_others(op, low, low + strip.sectors, self.data)
            else:
                self._read_others(op, low, low + strip.sectors, 1)
            self._decode(op, strip.sectors)
        op.waiting -= 1
        return self._next_stage(op)
