"""The files that a client of Spectrum Scale knows, and what of them is in its pagepool.

A file is known from its first opening on; of too many the one opened longest ago is forgotten, with
its buffers. Closing a file has its dirty buffers written; deleting one lets them go.
"""

# mypy: no-strict-optional
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cython

from simnet.kernel.simulator import Simulator
from simnet.storage.nsd.nsd import NsdClient
from simnet.storage.scale.pagepool import CLEAN, DIRTY, Buffer, CachedFile, Pagepool


@dataclass(frozen=True)
class Tuning:
    """Attributes of mmchconfig, and what a node's memory of files goes by.

    Attributes:
        pagepool_bytes, prefetch_percent, prefetch_threads, worker_threads, max_mb_per_s,
        max_files_to_cache, seq_discard_threshold_bytes: as mmchconfig has them.
        block_bytes: of the file system.
    """

    pagepool_bytes: int
    block_bytes: int
    prefetch_percent: int
    prefetch_threads: int
    worker_threads: int
    max_mb_per_s: int
    max_files_to_cache: int
    seq_discard_threshold_bytes: int


@cython.cclass
class BlockUser(NsdClient):
    """Reads or writes blocks; its `block_ready` is called when one that it waited for is there."""

    @cython.ccall
    def block_ready(self, handle: Handle) -> None:
        """The block that was asked for by `handle` may be in memory: ask again."""
        raise NotImplementedError(self.path)


@cython.final
@cython.cclass
class Handle:
    """A file as one user has it open."""

    # whose
    file: CachedFile = None
    user: BlockUser = None
    # that follows in sequence; `sequential` says whether it was expected
    next_block: cython.longlong = 0
    window: cython.longlong = 0  # blocks to prefetch
    asked: cython.longlong = 0  # the block after the last one prefetched
    last_block: cython.longlong = 0  # the block after the last one of the file
    wanted: cython.longlong = 0
    sequential: cython.bint = False
    queued: cython.bint = False  # whether it waits for its turn to prefetch
    writes: cython.bint = False  # whether what it waits for is a buffer to write to

    def __init__(self, file: CachedFile, user: BlockUser, blocks: int) -> None:
        self.file = file
        self.user = user
        self.window = 1
        self.last_block = blocks
        self.sequential = True

    def not_in_sequence(self) -> None:
        """What is read first from now on is not what follows, whichever it is."""
        self.next_block = -1


@cython.cclass
class FileTable(NsdClient):
    """Files and their buffers, of one node.

    Args:
        tuning: the attributes.
    """

    pool: Pagepool = None  # the buffers
    block_bytes: cython.longlong = 0
    files: Any = None  # known, the one opened longest ago first
    most_files: cython.longlong = 0
    awaiting_clean: dict[int, list[Any]] = None
    # written to files that were deleted before they were on disk
    dropped_bytes: cython.longlong = 0

    def __init__(self, sim: Simulator, path: str, tuning: Tuning) -> None:
        super().__init__(sim, path)
        self.pool = Pagepool(tuning.pagepool_bytes, tuning.block_bytes, tuning.prefetch_percent)
        self.block_bytes = tuning.block_bytes
        self.most_files = tuning.max_files_to_cache
        self.files = {}
        self.awaiting_clean = {}

    def serve(self) -> cython.int:
        """Let those who wait go on, as far as memory, shares and threads reach."""
        raise NotImplementedError(self.path)

    def _queue_flush(self, buffer: Buffer) -> cython.int:
        """Have a dirty buffer written when its turn comes."""
        raise NotImplementedError(self.path)

    def knows(self, number: cython.longlong) -> cython.bint:
        """Whether the node has a file's inode in memory."""
        return number in self.files

    def open(self, number: int, size_bytes: int, user: BlockUser) -> Handle:
        """Open a file; the least recently opened of too many is forgotten, if it is not in use."""
        file: CachedFile = self.files.pop(number, None)
        if file is None:
            file = CachedFile(number, size_bytes)
            if len(self.files) >= self.most_files:
                self._forget_oldest()
        file.size_bytes = max(file.size_bytes, size_bytes)
        self.files[number] = file
        file.opens += 1
        return Handle(file, user, -(-size_bytes // self.block_bytes))

    def _forget_oldest(self) -> None:
        for number, file in self.files.items():
            if file.opens == 0 and all(
                b.state == CLEAN and b.pins == 0 for b in file.buffers.values()
            ):
                self._drop_all(file)
                del self.files[number]
                return

    def close(self, handle: Handle) -> None:
        """Close a file: what is left of it in dirty buffers is written behind, too."""
        handle.file.opens -= 1
        self._abandon(handle)
        handle.last_block = 0
        for block in sorted(handle.file.buffers):
            buffer: Buffer = handle.file.buffers[block]
            if buffer.state == DIRTY and buffer.pins == 0:
                self._queue_flush(buffer)
        self.serve()

    def when_clean(self, number: int, call: Callable[[], Any]) -> None:
        """Call `call()` as soon as nothing of a file is dirty any more."""
        file: CachedFile = self.files.get(number)
        if file is None or all(buffer.state <= CLEAN for buffer in file.buffers.values()):
            call()
        else:
            self.awaiting_clean.setdefault(number, []).append(call)

    def _notify_clean(self, file: CachedFile) -> None:
        if all(buffer.state <= CLEAN for buffer in file.buffers.values()):
            for call in self.awaiting_clean.pop(file.number):
                call()

    def give_up(self, number: int) -> None:
        """A token has been revoked: write what is dirty, forget what is clean."""
        file: CachedFile = self.files.get(number)
        if file is None:
            return
        for block in sorted(file.buffers):
            buffer: Buffer = file.buffers[block]
            if buffer.state == CLEAN and buffer.pins == 0:
                self.pool.drop(buffer)
            elif buffer.state == DIRTY and buffer.pins == 0:
                self._queue_flush(buffer)
        self.serve()

    def delete(self, number: int) -> None:
        """Delete a file that is not open: what is not on disk yet is never written."""
        file: CachedFile = self.files.pop(number, None)
        if file is not None:
            file.gone = True
            self._drop_all(file)
            self.serve()

    def _drop_all(self, file: CachedFile) -> None:
        for block in sorted(file.buffers):
            buffer: Buffer = file.buffers[block]
            if buffer.pins:
                continue
            if buffer.state == CLEAN:
                self.pool.drop(buffer)
            elif buffer.state == DIRTY:
                self.dropped_bytes += buffer.last_bytes - buffer.first_bytes
                self.pool.drop_dirty(buffer)

    def _abandon(self, handle: Handle) -> cython.int:
        """What has been prefetched for a handle is no longer ahead of a reader."""
        block: cython.longlong = handle.next_block
        while block < handle.asked:
            buffer: Buffer = self.pool.find(handle.file, block)
            if buffer is not None:
                self.pool.read(buffer)
            block += 1
        return 0
