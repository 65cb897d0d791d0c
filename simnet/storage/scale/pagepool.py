"""Spectrum Scale's pagepool: pinned memory of a node that caches blocks of files.

Each block of a file that is in memory has a buffer, which takes a whole block of memory, or as
many sub-blocks (a 32nd of a block) as the end of a file needs. Clean buffers that are not in use
are on a list in the order of their last use; when memory is short, the least recently used is
stolen. What prefetch has asked for and is not read yet, and what has been written and is not on
disk yet, together may take `prefetchPct` of the pagepool and no more.

Source: IBM Spectrum Scale 4.2 administration and programming reference (pagepool, prefetchPct,
maxFilesToCache, seqDiscardThreshhold).
"""

# mypy: no-strict-optional
from __future__ import annotations

from typing import Any

import cython

from simnet.errors import SimulationError
from simnet.kernel.compiled import Public

READING: cython.int = 0
CLEAN: cython.int = 1
DIRTY: cython.int = 2
FLUSHING: cython.int = 3

_PERCENT: cython.longlong = 100


@cython.final
@cython.cclass
class CachedFile:
    """A file as one node knows it."""

    number: cython.longlong = 0  # of the file in the file system
    size_bytes: Public[cython.longlong] = 0  # of its data
    buffers: dict[int, Buffer] = None  # by block, those in memory
    opens: Public[cython.int] = 0  # how often it is open at the moment
    gone: Public[cython.bint] = False  # whether it has been deleted: nothing of it is worth keeping

    def __init__(self, number: int, size_bytes: int) -> None:
        self.number = number
        self.size_bytes = size_bytes
        self.buffers = {}


@cython.final
@cython.cclass
class Buffer:
    """A block of a file in memory, or on its way there."""

    # what it holds
    file: CachedFile = None
    block: cython.longlong = 0
    memory_bytes: cython.longlong = 0  # of the pagepool that it takes
    # READING, CLEAN, DIRTY (to be written) or FLUSHING (being written)
    state: Public[cython.int] = 0
    pins: Public[cython.int] = 0  # users that need it where it is
    ahead: Public[cython.bint] = False  # prefetched and not read yet; it counts in prefetch's share
    waited: Public[cython.bint] = False  # a process waits for the request that is on its way
    again: Public[cython.bint] = False  # written to while it was being flushed
    listed: Public[cython.bint] = False
    # of its dirty range, within the block
    first_bytes: Public[cython.longlong] = 0
    last_bytes: Public[cython.longlong] = 0
    waiting: Public[Any] = None  # who waits until it has been read
    # its neighbours on the list of clean buffers
    newer: Buffer = None
    older: Buffer = None

    def __init__(self, file: CachedFile, block: int, memory_bytes: int) -> None:
        self.file = file
        self.block = block
        self.memory_bytes = memory_bytes
        self.state = READING


@cython.final
@cython.cclass
class Pagepool:
    """Memory for buffers, and the order in which they are stolen.

    Args:
        capacity_bytes: `pagepool`.
        block_bytes: of the file system.
        prefetch_percent: `prefetchPct`.
    """

    capacity_bytes: cython.longlong = 0
    block_bytes: cython.longlong = 0
    share_bytes: cython.longlong = 0  # the most that is prefetched or dirty
    used_bytes: cython.longlong = 0  # of all buffers
    ahead_bytes: cython.longlong = 0  # prefetched and not read yet
    dirty_bytes: cython.longlong = 0  # written and not on disk yet
    most_share_bytes: cython.longlong = 0  # the most of both that there has been
    stolen: cython.longlong = 0  # buffers whose memory another got
    _newest: Buffer = None
    _oldest: Buffer = None

    def __init__(self, capacity_bytes: int, block_bytes: int, prefetch_percent: int) -> None:
        self.capacity_bytes = capacity_bytes
        self.block_bytes = block_bytes
        # one block to read ahead and one to write behind is the least that works at all
        self.share_bytes = max(capacity_bytes * prefetch_percent // _PERCENT, 2 * block_bytes)

    def memory_for(self, file: CachedFile, block: cython.longlong) -> cython.longlong:
        """Return what a block of a file takes: whole sub-blocks."""
        rest: cython.longlong = file.size_bytes - block * self.block_bytes
        piece: cython.longlong = self.block_bytes // 32
        if rest >= self.block_bytes:
            return self.block_bytes
        return max((rest + piece - 1) // piece, 1) * piece

    def find(self, file: CachedFile, block: cython.longlong) -> Buffer:
        """Return a block's buffer, or None."""
        found: Buffer = file.buffers.get(block)
        return found

    def take(self, file: CachedFile, block: cython.longlong) -> Buffer:
        """Return a buffer for a block that has none, pinned; None if no memory can be had."""
        memory_bytes: cython.longlong = self.memory_for(file, block)
        while self.used_bytes + memory_bytes > self.capacity_bytes:
            if self._oldest is None:
                return None
            self.stolen += 1
            self.drop(self._oldest)
        buffer: Buffer = Buffer(file, block, memory_bytes)
        self.used_bytes += memory_bytes
        file.buffers[block] = buffer
        buffer.pins = 1
        return buffer

    def has_share(self, file: CachedFile, block: cython.longlong) -> cython.bint:
        """Whether a block may be prefetched or written into memory now."""
        more: cython.longlong = self.memory_for(file, block)
        return self.ahead_bytes + self.dirty_bytes + more <= self.share_bytes

    def mark_ahead(self, buffer: Buffer) -> cython.int:
        """Count a buffer as prefetched."""
        buffer.ahead = True
        self.ahead_bytes += buffer.memory_bytes
        self._note_share()
        return 0

    def read(self, buffer: Buffer) -> cython.int:
        """Count a buffer as read: it is no longer prefetched."""
        if buffer.ahead:
            buffer.ahead = False
            self.ahead_bytes -= buffer.memory_bytes
        return 0

    def mark_dirty(self, buffer: Buffer) -> cython.int:
        """Count a buffer as written by a process."""
        if buffer.state == FLUSHING:
            buffer.again = True
            return 0
        if buffer.state != DIRTY:
            buffer.state = DIRTY
            self.read(buffer)
            self.dirty_bytes += buffer.memory_bytes
            self._note_share()
        return 0

    def mark_clean(self, buffer: Buffer) -> cython.int:
        """Count a buffer as written to disk."""
        buffer.state = CLEAN
        self.dirty_bytes -= buffer.memory_bytes
        buffer.first_bytes = buffer.last_bytes = 0
        return 0

    def _note_share(self) -> cython.int:
        both: cython.longlong = self.ahead_bytes + self.dirty_bytes
        self.most_share_bytes = max(self.most_share_bytes, both)
        return 0

    def unpin(self, buffer: Buffer, keep: cython.bint) -> cython.int:
        """Let a buffer go: onto the list as the newest, or out of memory if it is not to be kept.

        A dirty one stays until it is on disk.
        """
        buffer.pins -= 1
        if buffer.pins < 0:
            message = f"block {buffer.block} of file {buffer.file.number} was let go twice"
            raise SimulationError(message, component="pagepool")
        return self.release(buffer, keep)

    def release(self, buffer: Buffer, keep: cython.bint) -> cython.int:
        """Put a clean buffer without pins on the list, or drop it if it is not to be kept."""
        if buffer.pins > 0 or buffer.state != CLEAN:
            return 0
        if buffer.file.gone or not keep:
            self.drop(buffer)
        elif not buffer.listed:
            buffer.listed = True
            buffer.older = self._newest
            buffer.newer = None
            if self._newest is not None:
                self._newest.newer = buffer
            self._newest = buffer
            if self._oldest is None:
                self._oldest = buffer
        return 0

    def pin(self, buffer: Buffer) -> cython.int:
        """Keep a buffer where it is."""
        buffer.pins += 1
        if buffer.listed:
            self._unlink(buffer)
        return 0

    def drop(self, buffer: Buffer) -> cython.int:
        """Forget a clean buffer without pins."""
        if buffer.listed:
            self._unlink(buffer)
        self.read(buffer)
        self.used_bytes -= buffer.memory_bytes
        del buffer.file.buffers[buffer.block]
        return 0

    def drop_dirty(self, buffer: Buffer) -> cython.int:
        """Forget what was written to a file that has been deleted."""
        self.mark_clean(buffer)
        return self.drop(buffer)

    def _unlink(self, buffer: Buffer) -> cython.int:
        newer: Buffer = buffer.newer
        older: Buffer = buffer.older
        buffer.listed = False
        if newer is None:
            self._newest = older
        else:
            newer.older = older
        if older is None:
            self._oldest = newer
        else:
            older.newer = newer
        buffer.newer = None
        buffer.older = None
        return 0
