"""The client side of Spectrum Scale on one node: what becomes of reads and writes of whole blocks.

A read finds its block in the pagepool, or on its way there, or asks the NSD server that owns it.
A process that reads one block after the other has the blocks ahead prefetched: as far as its window
says, which doubles each time that it had to wait, and no further than the shares of memory and of
requests allow. A written block is a buffer that is dirty from its first byte on; when it is full
it is written behind the writer's back, the last one when the file is closed.

- `prefetchPct` of the pagepool is the most that prefetched and dirty buffers take (see `pagepool`);
- `prefetchThreads` is the most requests for prefetch and write-behind that are on their way;
- `maxMBpS` says how much data those may be: that rate times the mean time that a request takes;
- `workerThreads` is the most requests on their way that a process waits for;
- `seqDiscardThreshhold`: blocks of larger files are dropped when read or written in sequence;
- `maxFilesToCache`: files that are known at once; what is in memory of one that is forgotten goes.

One call is one block: the calls of 256 KiB that a program makes within a block that is in memory
cost CPU time, and nothing else comes of them.

Source: IBM Spectrum Scale 4.2 administration and programming reference; F. Schmuck and
R. Haskin, "GPFS: A Shared-Disk File System for Large Computing Clusters" (FAST 2002).
"""

# mypy: no-strict-optional

from collections import deque
from typing import Any

import cython

from simnet.host.lpar import LparCpu
from simnet.kernel.simulator import Simulator
from simnet.storage.nsd.nsd import NsdRequest, new_request
from simnet.storage.scale.files import FileTable, Handle, Tuning
from simnet.storage.scale.pagepool import CLEAN, DIRTY, FLUSHING, READING, Buffer, CachedFile

_PS_PER_S: cython.longlong = 10**12
_MB: cython.longlong = 10**6
_US: cython.longlong = 10**6
_FIRST_LATENCY_PS: cython.longlong = 20 * 10**9
_SMOOTHING: cython.longlong = 8
_MOST_AHEAD: cython.longlong = 1 << 30


@cython.final
@cython.cclass
class ScaleClient(FileTable):
    """Pagepool, prefetch and write-behind of a node.

    Args:
        number: of the node, from 0, as NSD servers know it.
        cluster: takes requests (`submit(request)`).
        cpu: where the daemon's work on what is transferred is done.
        tuning: the attributes.
        daemon_fs_per_byte: CPU time of the daemon, TCP and the adapter's driver, in fs a byte.
    """

    number: cython.int = 0
    cluster: Any = None
    cpu: LparCpu = None
    daemon_fs_per_byte: cython.longlong = 0
    prefetch_threads: cython.longlong = 0
    worker_threads: cython.longlong = 0
    max_bytes_s: cython.longlong = 0
    discard_bytes: cython.longlong = 0
    latency_ps: cython.longlong = 0
    background: cython.longlong = 0
    background_bytes: cython.longlong = 0
    foreground: cython.longlong = 0
    flush_turn: cython.bint = False
    hungry: Any = None
    flushes: Any = None
    short_of_memory: Any = None
    short_of_share: Any = None
    serving: cython.bint = False
    served_again: cython.bint = False
    # blocks read that were in memory, on their way, neither
    hits: cython.longlong = 0
    late: cython.longlong = 0
    misses: cython.longlong = 0
    prefetched: cython.longlong = 0  # blocks asked for ahead of their reader
    # by requests to NSD servers, done
    read_bytes: cython.longlong = 0
    written_bytes: cython.longlong = 0
    requests: cython.longlong = 0
    bins: list[int] = None  # bytes that passed in each second of the simulation

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        number: int,
        cluster: Any,
        cpu: LparCpu,
        tuning: Tuning,
        daemon_fs_per_byte: int,
    ) -> None:
        super().__init__(sim, path, tuning)
        self.number = number
        self.cluster = cluster
        self.cpu = cpu
        self.daemon_fs_per_byte = daemon_fs_per_byte
        self.prefetch_threads = tuning.prefetch_threads
        self.worker_threads = tuning.worker_threads
        self.max_bytes_s = tuning.max_mb_per_s * _MB
        self.discard_bytes = tuning.seq_discard_threshold_bytes
        self.latency_ps = _FIRST_LATENCY_PS
        self.hungry = deque()
        self.flushes = deque()
        self.short_of_memory = deque()
        self.short_of_share = deque()
        self.bins = []

    # -- reading ------------------------------------------------------------------------------

    def read(self, handle: Handle, block: cython.longlong) -> Buffer:
        """Return a block's buffer, pinned, or None: the user is called when to ask again."""
        buffer: Buffer = self.pool.find(handle.file, block)
        first: cython.bint = handle.wanted != block + 1
        if first:
            self._follow(handle, block)
        if buffer is not None and buffer.state != READING:
            if first:
                self.hits += 1
            handle.wanted = 0
            self.pool.read(buffer)
            self.pool.pin(buffer)
            if handle.sequential:
                self._look_ahead(handle)
            return buffer
        if first:
            handle.window = min(2 * handle.window, _MOST_AHEAD)
            if buffer is None:
                self.misses += 1
            else:
                self.late += 1
        handle.wanted = block + 1
        handle.writes = False
        if buffer is None:
            buffer = self._ask_for(handle, block)
            if buffer is None:
                return None
        if buffer.waiting is None:
            buffer.waiting = []
        buffer.waiting.append(handle)
        if handle.sequential:
            self._look_ahead(handle)
        return None

    def touch(self, handle: Handle, block: cython.longlong) -> cython.bint:
        """Whether a block is in memory; if so it has just been used."""
        buffer: Buffer = self.pool.find(handle.file, block)
        if buffer is None or buffer.state == READING:
            return False
        self.pool.pin(buffer)
        self.pool.unpin(buffer, True)
        return True

    def _follow(self, handle: Handle, block: cython.longlong) -> cython.int:
        """Note which block is read: whether it is the next in sequence."""
        handle.sequential = block == handle.next_block
        if not handle.sequential:
            self._abandon(handle)
            handle.window = 1
            handle.asked = block + 1
        handle.next_block = block + 1
        handle.asked = max(handle.asked, block + 1)
        return 0

    def _ask_for(self, handle: Handle, block: cython.longlong) -> Buffer:
        """Have a block read for a process that waits; None if that has to wait, too."""
        buffer: Buffer = None
        if self.foreground < self.worker_threads:
            buffer = self.pool.take(handle.file, block)
        if buffer is None:
            self.short_of_memory.append(handle)
            return None
        self.foreground += 1
        self._request(buffer, False, True)
        return buffer

    def read_part(
        self, file: CachedFile, block: cython.longlong, size_bytes: int, user: Any
    ) -> int:
        """Read sub-blocks of a block for `user.request_done(request)`, without a buffer.

        What a random call of less than a block does: the rest is not read.
        """
        piece: cython.longlong = self.block_bytes // 32
        whole: cython.longlong = -(-size_bytes // piece) * piece
        whole = min(whole, self.block_bytes)
        self.misses += 1
        self.requests += 1
        self.cluster.submit(
            new_request(self.number, file.number, block, 0, whole, False, user, None)
        )
        return 0

    def part_received(self, size_bytes: cython.longlong) -> cython.int:
        """Count a part of a block that has come."""
        self.read_bytes += size_bytes
        self._work(size_bytes)
        return 0

    def release(self, handle: Handle, buffer: Buffer) -> cython.int:
        """Let a block that has been read go."""
        self.pool.unpin(buffer, self._keeps(handle.file, handle.sequential))
        return self.serve()

    def _keeps(self, file: CachedFile, sequential: cython.bint) -> cython.bint:
        return not (sequential and file.size_bytes > self.discard_bytes)

    def _look_ahead(self, handle: Handle) -> cython.int:
        """Have a handle wait for its turn to prefetch, if there is anything to prefetch."""
        end: cython.longlong = min(handle.next_block + handle.window, handle.last_block)
        if handle.asked < end and not handle.queued:
            handle.queued = True
            self.hungry.append(handle)
            self.serve()
        return 0

    # -- writing ------------------------------------------------------------------------------

    def write(self, handle: Handle, block: cython.longlong) -> Buffer:
        """Return a buffer to write a block to, pinned and dirty, or None: see `read`."""
        buffer: Buffer = self.pool.find(handle.file, block)
        handle.wanted = block + 1
        handle.writes = True
        if buffer is not None and buffer.state == READING:
            if buffer.waiting is None:
                buffer.waiting = []
            buffer.waiting.append(handle)
            return None
        if buffer is None or buffer.state == CLEAN:
            if not self.pool.has_share(handle.file, block):
                self.short_of_share.append(handle)
                return None
            if buffer is None:
                buffer = self.pool.take(handle.file, block)
                if buffer is None:
                    self.short_of_memory.append(handle)
                    return None
                buffer.state = CLEAN
                buffer.first_bytes = self.block_bytes
                buffer.last_bytes = 0
                buffer.pins -= 1
            else:
                buffer.first_bytes = self.block_bytes
        self.pool.pin(buffer)
        self.pool.mark_dirty(buffer)
        handle.wanted = 0
        return buffer

    def written(
        self,
        handle: Handle,
        buffer: Buffer,
        first_bytes: cython.longlong,
        last_bytes: cython.longlong,
        behind: cython.bint,
    ) -> cython.int:
        """Data have been copied to a part of a buffer.

        `behind`: the writer is done with the block, it may go to disk.
        """
        buffer.first_bytes = min(buffer.first_bytes, first_bytes)
        buffer.last_bytes = max(buffer.last_bytes, last_bytes)
        self.pool.unpin(buffer, True)
        if behind and buffer.state == DIRTY and buffer.pins == 0:
            self._queue_flush(buffer)
        return self.serve()

    @cython.cfunc
    def _queue_flush(self, buffer: Buffer) -> cython.int:
        # pinned by the queue: it stays what it is until its turn
        buffer.pins += 1
        self.flushes.append(buffer)
        return 0

    # -- requests -----------------------------------------------------------------------------

    def _request(self, buffer: Buffer, write: cython.bint, waited: cython.bint) -> cython.int:
        """Send the read of a whole buffer, or the write of its dirty sub-blocks."""
        first: cython.longlong = 0
        size: cython.longlong = buffer.memory_bytes
        piece: cython.longlong = self.block_bytes // 32
        if write:
            first = buffer.first_bytes // piece * piece
            size = (buffer.last_bytes + piece - 1) // piece * piece - first
        self.requests += 1
        buffer.waited = waited
        if not waited:
            self.background += 1
            self.background_bytes += size
        self.cluster.submit(
            new_request(
                self.number, buffer.file.number, buffer.block, first, size, write, self, buffer
            )
        )
        return 0

    def request_done(self, request: NsdRequest) -> cython.int:
        """A block has come, or is on disk."""
        buffer: Buffer = request.tag
        file: CachedFile = buffer.file
        took_ps: cython.longlong = self.sim.now - request.submitted_ps
        self.latency_ps += (took_ps - self.latency_ps + _SMOOTHING) // _SMOOTHING
        if buffer.waited:
            self.foreground -= 1
        else:
            self.background -= 1
            self.background_bytes -= request.size_bytes
        self._work(request.size_bytes)
        buffer.pins -= 1
        if request.write:
            self.written_bytes += request.size_bytes
            if buffer.again:
                buffer.again = False
                buffer.state = DIRTY
                if buffer.pins == 0:
                    self._queue_flush(buffer)
            else:
                self.pool.mark_clean(buffer)
                self.pool.release(buffer, self._keeps(file, True))
            if self.awaiting_clean and file.number in self.awaiting_clean:
                self._notify_clean(file)
        else:
            self.read_bytes += request.size_bytes
            buffer.state = CLEAN
            waiting = buffer.waiting
            buffer.waiting = None
            # prefetched for a reader that has not come: it waits on the list
            self.pool.release(buffer, True)
            if waiting is not None:
                for handle in waiting:
                    self._wake(handle)
        return self.serve()

    def _wake(self, handle: Handle) -> cython.int:
        handle.user.block_ready(handle)
        return 0

    def _work(self, size_bytes: cython.longlong) -> cython.int:
        """What the daemon, TCP and the driver do for data that pass, beside the processes."""
        second: cython.Py_ssize_t = self.sim.now // _PS_PER_S
        while len(self.bins) <= second:
            self.bins.append(0)
        self.bins[second] += size_bytes
        if self.daemon_fs_per_byte:
            self.cpu.background(size_bytes * self.daemon_fs_per_byte // 1000)
        return 0

    # -- who waits ----------------------------------------------------------------------------

    def serve(self) -> cython.int:
        """Let those who wait go on, as far as memory, shares and threads reach."""
        if self.serving:
            self.served_again = True
            return 0
        self.serving = True
        self.served_again = True
        while self.served_again:
            self.served_again = False
            self._serve(self.short_of_share)
            self._serve(self.short_of_memory)
            self._serve_background()
            if (self.short_of_share or self.short_of_memory) and self._is_quiet():
                self._make_room()
        self.serving = False
        return 0

    def _is_quiet(self) -> cython.bint:
        """Whether no request is on its way that room could come from."""
        return self.background == 0 and self.foreground == 0 and not self.flushes

    def _make_room(self) -> cython.int:
        """Have blocks that are not full yet written, and let go what has been prefetched.

        Those whom they are for may themselves be among the waiting.
        """
        file: CachedFile
        for file in self.files.values():
            for block in sorted(file.buffers):
                buffer: Buffer = file.buffers[block]
                if buffer.pins:
                    continue
                if buffer.state == DIRTY:
                    self._queue_flush(buffer)
                    self.served_again = True
                elif buffer.ahead:
                    self.pool.read(buffer)
                    self.served_again = True
        return 0

    def _serve(self, waiting: Any) -> cython.int:
        """Let the first of a queue ask again, and the next, until one has to wait on."""
        count: cython.Py_ssize_t = len(waiting)
        while count > 0 and waiting:
            self._wake(waiting.popleft())
            count -= 1
            if len(waiting) > count:
                waiting.rotate(1)  # it stays the first
                break
        return 0

    def _serve_background(self) -> cython.int:
        """Give threads to write-behind and to prefetch, in turn where both want one."""
        while self._has_thread():
            self.flush_turn = not self.flush_turn
            if self.flush_turn and self.flushes:
                self._flush_one()
            elif self.hungry and self._prefetch_one():
                continue
            elif self.flushes:
                self._flush_one()
            else:
                break
        return 0

    def _has_thread(self) -> cython.bint:
        """Whether one more request for prefetch or write-behind may be on its way."""
        allowed: cython.longlong
        if self.background >= self.prefetch_threads:
            return False
        allowed = self.max_bytes_s // _MB * (self.latency_ps // _US)
        return self.background == 0 or self.background_bytes + self.block_bytes <= allowed

    def _flush_one(self) -> cython.int:
        """Write the buffer that has waited longest, unless it needs none any more."""
        buffer: Buffer = self.flushes.popleft()
        if buffer.file.gone:
            buffer.pins -= 1
            if buffer.pins == 0 and buffer.state == DIRTY:
                self.dropped_bytes += buffer.last_bytes - buffer.first_bytes
                self.pool.drop_dirty(buffer)
            return 0
        if buffer.state != DIRTY:
            buffer.pins -= 1
            return 0
        buffer.state = FLUSHING
        self._request(buffer, True, False)
        return 0

    def _prefetch_one(self) -> cython.bint:
        """Ask for the next block of the handle whose turn it is, if anything can be asked for."""
        turns: cython.Py_ssize_t = len(self.hungry)
        handle: Handle
        buffer: Buffer
        end: cython.longlong
        while turns > 0:
            turns -= 1
            handle = self.hungry.popleft()
            end = min(handle.next_block + handle.window, handle.last_block)
            while handle.asked < end and self.pool.find(handle.file, handle.asked) is not None:
                handle.asked += 1
            if handle.asked >= end or handle.file.gone:
                handle.queued = False
                continue
            if not self.pool.has_share(handle.file, handle.asked):
                self.hungry.appendleft(handle)
                return False
            buffer = self.pool.take(handle.file, handle.asked)
            if buffer is None:
                self.hungry.appendleft(handle)
                return False
            self.pool.mark_ahead(buffer)
            self.prefetched += 1
            handle.asked += 1
            self._request(buffer, False, False)
            self.hungry.append(handle)
            return True
        return False

    def counters(self) -> dict[str, int]:
        """What was read and written, and how."""
        names = ("hits", "late", "misses", "prefetched", "requests")
        sizes = ("read_bytes", "written_bytes", "dropped_bytes")
        return {name: getattr(self, name) for name in (*names, *sizes)}

    def waiting_for(self) -> str | None:
        """Requests on their way."""
        count = self.background + self.foreground
        return f"{count} requests" if count else None
