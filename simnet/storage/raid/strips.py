"""The strips of declustered RAID's tracks: which to read for what, and on which disk each is.

A range is read from the strips that have it. What a failed disk has of it is computed from the
same range of as many others as a track has data strips. The parity of a part that is written needs
the old data and parity, or the data beside it, whichever are fewer strips.
"""

from array import array
from typing import Any

import cython

from simnet.errors import SimulationError
from simnet.kernel.compiled import Array, Public
from simnet.kernel.simulator import Simulator
from simnet.storage.disk.model import SECTOR_BYTES
from simnet.storage.disk.surface import Surface
from simnet.storage.nsd.model import RaidModel
from simnet.storage.raid.cpu_pool import CpuPool
from simnet.storage.raid.pdisk import Pdisk, SasPath, Strip, StripOwner, new_strip
from simnet.storage.raid.track import REBUILD, WRITING, TrackLayout, TrackOp

_SECTOR_BYTES: cython.longlong = SECTOR_BYTES
_KIB_BITS: cython.int = 10
_ALIGN: cython.int = 8


@cython.cclass
class TrackStrips(StripOwner):
    """The disks of one server's arrays, and what is asked of them for a track.

    Args:
        model: of the arrays.
        surface: of the disks.
        cpus: of the server.
        parity_ps_kib: what they need to encode or decode a KiB.
        block_bytes: data of a track.
        nsds: vdisks, dealt out to the arrays in turn.
    """

    model: Any = None
    layout: TrackLayout = None  # where tracks are
    width: cython.int = 0
    data: cython.int = 0
    count: cython.int = 0
    arrays: cython.int = 0
    strip_sectors: cython.longlong = 0
    most_sectors: cython.longlong = 0
    disks: list[Any] = None  # all of them, array by array
    lanes: list[Any] = None  # SAS paths, one an enclosure
    adapter: SasPath = None  # the SAS adapters
    cpus: CpuPool = None
    parity_ps_kib: cython.longlong = 0
    spare: list[Any] = None
    spares: cython.int = 0
    failures: cython.int = 0  # disks that answer no more
    # of each vdisk, the first track whose strip has not been rebuilt
    rebuilt_to: Public[Array[cython.longlong]] = None
    lost_disk: Public[Array[cython.int]] = None  # of each array, what is being rebuilt; -1 for none
    reconstructed: cython.longlong = 0  # strips that were computed instead of read

    def __init__(
        self,
        sim: Simulator,
        path: str,
        model: RaidModel,
        surface: Surface,
        cpus: CpuPool,
        parity_ps_kib: int,
        block_bytes: int,
        nsds: int,
    ) -> None:
        super().__init__(sim, path)
        self.model = model
        self.cpus = cpus
        self.parity_ps_kib = parity_ps_kib
        self.layout = TrackLayout(path, model, surface.sectors, block_bytes, nsds)
        self.width = model.width
        self.data = model.data_strips
        self.count = model.array_disks
        self.arrays = model.arrays
        self.strip_sectors = self.layout.strip_sectors
        self.most_sectors = model.max_sectors_bytes // _SECTOR_BYTES
        self.adapter = SasPath(f"{path}.sas", model.adapter_bytes_s)
        self.lanes = [
            SasPath(f"{path}.enclosure{n}", model.lane_paths * model.path_bytes_s)
            for n in range(model.enclosures)
        ]
        self.disks = [
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
        # commands that are done, for others to come; a track asks for ten at a time
        self.spare = []
        self.rebuilt_to = array("q", [0] * nsds)
        self.lost_disk = array("i", [-1] * self.arrays)

    def disk_of(self, op: TrackOp, index: cython.int) -> cython.int:
        """The disk that has a strip: of the track's sequence, or where it was rebuilt."""
        disk: cython.int = self.layout.member(op, index)
        member: Pdisk
        if self.failures == 0:
            return op.array * self.count + disk
        if disk == self.lost_disk[op.array] and (
            op.track < self.rebuilt_to[op.nsd] or (op.kind == REBUILD and op.stage == WRITING)
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
            disk.submit(self._command(op, index, op.sector + low, sectors, write))
            low += sectors
        return True

    def _command(
        self,
        op: TrackOp,
        index: cython.int,
        sector: cython.longlong,
        sectors: cython.longlong,
        write: cython.bint,
    ) -> Strip:
        """Make a command, of one that is done if there is any."""
        strip: Strip
        if self.spares == 0:
            return new_strip(self, op, index, sector, sectors, write)
        self.spares -= 1
        strip = self.spare[self.spares]
        strip.tag = op
        strip.index = index
        strip.sector = sector
        strip.sectors = sectors
        strip.write = write
        return strip

    def _spare(self, strip: Strip) -> cython.int:
        """Keep a command that is done."""
        strip.tag = None
        if self.spares < len(self.spare):
            self.spare[self.spares] = strip
        else:
            self.spare.append(strip)
        self.spares += 1
        return 0

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
