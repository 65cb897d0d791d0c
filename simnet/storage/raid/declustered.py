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

from typing import Any

import cython

from simnet.kernel.priority import CPU
from simnet.kernel.simulator import Simulator
from simnet.storage.disk.model import SECTOR_BYTES
from simnet.storage.disk.surface import Surface
from simnet.storage.nsd.model import NsdServerModel, RaidModel
from simnet.storage.raid.cpu_pool import CpuPool
from simnet.storage.raid.pdisk import Pdisk, Strip
from simnet.storage.raid.strips import TrackStrips
from simnet.storage.raid.track import (
    FULL,
    PART,
    READ,
    READING,
    REBUILD,
    WORKING,
    WRITING,
    TrackOp,
    TrackOwner,
)

_SECTOR_BYTES: cython.longlong = SECTOR_BYTES
_KIB_BITS: cython.int = 10


@cython.final
@cython.cclass
class DeclusteredRaid(TrackStrips):
    """The arrays of one server.

    Args:
        model: of the arrays.
        server: what its CPUs need.
        surface: of the disks.
        cpus: of the server.
        block_bytes: data of a track.
        nsds: vdisks, dealt out to the arrays in turn.
    """

    check_ps_kib: cython.longlong = 0
    ops: list[Any] = None
    free: list[Any] = None
    # operations done
    reads: cython.longlong = 0
    full_writes: cython.longlong = 0
    part_writes: cython.longlong = 0
    rebuilt: cython.longlong = 0
    unwritten: cython.longlong = 0  # strips that were not written because their disk has failed
    # time that these took
    read_ps: cython.longlong = 0
    write_ps: cython.longlong = 0
    busy: cython.longlong = 0  # operations under way

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
        super().__init__(sim, path, model, surface, cpus, server.parity_ps_kib, block_bytes, nsds)
        self.check_ps_kib = server.checksum_ps_kib
        self.ops = []
        self.free = []

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
        op: TrackOp = self._begin(READ, nsd, track, owner, tag)
        self._bound(op, begin, end)
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
        op: TrackOp = self._begin(FULL if full else PART, nsd, track, owner, tag)
        self._bound(op, begin, end)
        if not full:
            self._read_for_parity(op)
        return self._next_stage(op)

    def rebuild(self, nsd: cython.int, track: cython.longlong, owner: TrackOwner) -> cython.bint:
        """Compute a track's strip of `lost_disk` and write it elsewhere; False if there is none.

        `rebuilt_to` has to follow when it is done: see `simnet.storage.raid.rebuild`.
        """
        op: TrackOp = self._begin(REBUILD, nsd, track, owner, None)
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
        owner: TrackOwner,
        tag: Any,
    ) -> TrackOp:
        """Find the disks of a track."""
        op: TrackOp = TrackOp.__new__(TrackOp)
        op.owner = owner
        op.tag = tag
        op.kind = kind
        op.stage = READING
        op.nsd = nsd
        op.track = track
        self.layout.locate(op)
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

    def _bound(self, op: TrackOp, begin: cython.longlong, end: cython.longlong) -> cython.int:
        """Note the bytes of the track that an operation is about."""
        strip_bytes: cython.longlong = self.strip_sectors * _SECTOR_BYTES
        op.begin = begin
        op.end = end
        op.first = begin // strip_bytes
        op.last = (end - 1) // strip_bytes
        return 0

    def _end(self, op: TrackOp) -> cython.int:
        self.busy -= 1
        self.ops[op.slot] = None
        self.free.append(op.slot)
        return 0

    def _next_stage(self, op: TrackOp) -> cython.int:
        """Go on if nothing is awaited: the CPUs' work, then writing, then the end."""
        if op.waiting > 0:
            return 0
        if op.stage == READING:
            op.stage = WORKING
            self._work(op)
            if op.ready_ps > self.sim.now:
                self.sim.at(op.ready_ps, self, 0, op.slot, CPU)
                return 0
        if op.stage == WORKING:
            op.stage = WRITING
            if op.kind != READ:
                self._write_strips(op)
                if op.waiting > 0:
                    return 0
        return self._done(op)

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The CPUs' work on a track is done."""
        self._next_stage(self.ops[arg])

    def _done(self, op: TrackOp) -> cython.int:
        self._end(op)
        if op.kind == READ:
            self.reads += 1
            self.read_ps += self.sim.now - op.begun_ps
        elif op.kind == FULL:
            self.full_writes += 1
            self.write_ps += self.sim.now - op.begun_ps
        elif op.kind == PART:
            self.part_writes += 1
            self.write_ps += self.sim.now - op.begun_ps
        else:
            self.rebuilt += 1
        op.owner.track_done(op)
        return 0

    def _work(self, op: TrackOp) -> cython.int:
        """Encode what will be written, in as many pieces as a track has data strips."""
        work: cython.longlong
        if op.kind == READ:
            return 0
        if op.kind == REBUILD:
            return self._decode(op, self.strip_sectors)
        work = (op.end - op.begin >> _KIB_BITS) * (self.check_ps_kib + self.parity_ps_kib)
        for _ in range(self.data):
            op.ready_ps = max(op.ready_ps, self.cpus.book(self.sim.now, work // self.data))
        return 0

    # -- strips ---------------------------------------------------------------------------

    def _write_strips(self, op: TrackOp) -> cython.int:
        """Write what an operation is about."""
        index: cython.int
        if op.kind == REBUILD:
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
        self._spare(strip)
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
