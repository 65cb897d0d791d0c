"""Tracks of declustered RAID: what is done with one, and on which disks it is."""

from __future__ import annotations

from array import array
from math import gcd
from typing import Any

import cython

from simnet.kernel.compiled import Array, Public
from simnet.kernel.component import Component
from simnet.storage.disk.model import SECTOR_BYTES
from simnet.storage.nsd.model import RaidModel

# as literals in an expression they would be objects: they are larger than a signed 64-bit number
_MASK: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
_STEP: cython.ulonglong = 0x9E3779B97F4A7C15
_FIRST: cython.ulonglong = 0xBF58476D1CE4E5B9
_SECOND: cython.ulonglong = 0x94D049BB133111EB
_MOST_NSDS: cython.longlong = 4096
_ALIGN = 8

READ: cython.int = 0
FULL: cython.int = 1
PART: cython.int = 2
REBUILD: cython.int = 3
# stages of an operation: what it reads, the CPUs' work on it, what it writes
READING: cython.int = 0
WORKING: cython.int = 1
WRITING: cython.int = 2


@cython.exceptval(check=False)
@cython.overflowcheck(False)  # modulo 2**64, as the algorithm has it
def mix(value: cython.ulonglong) -> cython.ulonglong:
    """Return 64 bits that look random (the finalizer of SplitMix64)."""
    value = (value + _STEP) & _MASK
    value = ((value ^ (value >> 30)) * _FIRST) & _MASK
    value = ((value ^ (value >> 27)) * _SECOND) & _MASK
    return value ^ (value >> 31)


@cython.cclass
class TrackOwner(Component):
    """Who asks for tracks, a component."""

    def track_done(self, op: TrackOp) -> cython.int:
        """A track has been read or written."""
        raise NotImplementedError(self.path)


@cython.final
@cython.freelist(1024)
@cython.cclass
class TrackOp:
    """What is being done with a track."""

    owner: Public[TrackOwner] = None  # hears when it is done
    tag: Public[Any] = None  # the owner's
    kind: Public[cython.int] = 0
    stage: Public[cython.int] = 0
    slot: Public[cython.longlong] = 0
    # which one
    nsd: Public[cython.int] = 0
    track: Public[cython.longlong] = 0
    array: Public[cython.int] = 0
    start: Public[cython.int] = 0
    spare: Public[cython.int] = 0
    stride: Public[cython.int] = 0
    sector: Public[cython.longlong] = 0
    begin: Public[cython.longlong] = 0
    end: Public[cython.longlong] = 0
    # data strips that it is about
    first: Public[cython.int] = 0
    last: Public[cython.int] = 0
    # range in a strip, in sectors, of the parity
    low: Public[cython.longlong] = 0
    high: Public[cython.longlong] = 0
    asked: Public[cython.longlong] = 0
    waiting: Public[cython.int] = 0
    ready_ps: Public[cython.longlong] = 0
    begun_ps: Public[cython.longlong] = 0  # when it began


@cython.final
@cython.cclass
class TrackLayout:
    """Where the strips of tracks are.

    As many tracks as fit side by side on the disks are a row, at the same place of all disks; the
    disks are in an order of the row's own, and a track has `width` in turn. What is left over of a
    row is spare space.

    Args:
        path: of the RAID, for errors.
        model: of the arrays.
        sectors: of a disk.
        block_bytes: data of a track.
        nsds: vdisks, dealt out to the arrays in turn.
    """

    width: cython.int = 0
    count: cython.int = 0
    arrays: cython.int = 0
    row_tracks: cython.int = 0
    strip_sectors: cython.longlong = 0  # of one strip
    tracks: cython.longlong = 0  # of each vdisk
    first_sector: cython.longlong = 0
    slots_each: cython.longlong = 0
    strides: Array[cython.int] = None
    stride_count: cython.int = 0

    def __init__(
        self, path: str, model: RaidModel, sectors: int, block_bytes: int, nsds: int
    ) -> None:
        self.width = model.width
        self.count = model.array_disks
        self.arrays = model.arrays
        if self.width > self.count:
            message = f"{path}: a track of {self.width} strips does not fit on {self.count} disks"
            raise ValueError(message)
        if block_bytes % (model.data_strips * SECTOR_BYTES * _ALIGN):
            raise ValueError(f"{path}: {block_bytes} bytes are not {model.data_strips} strips")
        self.row_tracks = max((self.count - 1) // self.width, 1)
        self.strip_sectors = block_bytes // model.data_strips // SECTOR_BYTES
        per_array = -(-nsds // self.arrays)
        self.first_sector = sectors * model.first_permille // 1000 // _ALIGN * _ALIGN
        extent = sectors * model.extent_permille // 1000
        self.slots_each = extent // per_array // self.strip_sectors
        self.tracks = self.slots_each * self.row_tracks
        beyond = self.first_sector + self.slots_each * per_array * self.strip_sectors > sectors
        if self.tracks < 1 or beyond:
            raise ValueError(f"{path}: its tracks are not within the disks")
        strides = [n for n in range(1, self.count) if gcd(n, self.count) == 1]
        self.strides = array("i", strides)
        self.stride_count = len(strides)

    def locate(self, op: TrackOp) -> cython.int:
        """Find the disks of an operation's track, and where on them it is."""
        row: cython.longlong = op.track // self.row_tracks
        place: cython.int = op.track % self.row_tracks * self.width
        number: cython.ulonglong = mix(row * _MOST_NSDS + op.nsd)
        op.array = op.nsd % self.arrays
        op.stride = self.strides[(number >> 32) % self.stride_count]
        op.start = (number % self.count + place * op.stride) % self.count
        op.spare = (self.row_tracks - 1) * self.width - place
        op.sector = row + op.nsd // self.arrays * self.slots_each
        op.sector = self.first_sector + op.sector * self.strip_sectors
        return 0

    def member(self, op: TrackOp, index: cython.int) -> cython.int:
        """The disk of a strip in its array; beyond the last strip, where one may be rebuilt."""
        if index >= self.width:
            index += op.spare
        return (op.start + index * op.stride) % self.count
