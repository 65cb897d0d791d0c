"""A server of network shared disks: threads, memory, CPUs and the RAID behind.

A request waits for a worker thread; there are threads for small and for large requests, and queues
of their own before them (`nsdMultiQueue`). The thread keeps the request until it is answered.

- A read that the memory holds is answered from there. Else the strips are read; who else asks for
  the same track meanwhile waits for them.
- The data of a write that did not come with the request are fetched from the client once a thread
  has it. A write of a whole track goes to the disks, and is acknowledged when they have it. One of
  at most `nsdRAIDFastWriteFSDataLimit` goes to the log, and is acknowledged then. What lies between
  is written in place, with the parity.

The memory (`pagepool` times `nsdRAIDBufferPoolSizePct`) holds the tracks under way and, of what is
left, those that were used last.
"""

from collections import deque
from typing import Any

import cython

from simnet.kernel.priority import CPU
from simnet.kernel.simulator import Simulator
from simnet.storage.disk.surface import Surface
from simnet.storage.nsd.model import ClusterModel
from simnet.storage.nsd.nsd import NsdRequest
from simnet.storage.nsd.receiver import MessageReader
from simnet.storage.nsd.track_memory import TrackMemory
from simnet.storage.raid.cpu_pool import CpuPool
from simnet.storage.raid.declustered import DeclusteredRaid
from simnet.storage.raid.fast_write import FastWriteLog
from simnet.storage.raid.track import TrackOp, TrackOwner

_KIB_BITS: cython.int = 10


@cython.cclass
class Frontend(MessageReader):
    """What a server needs to talk to clients, a component."""

    def fetch(self, request: NsdRequest) -> cython.int:
        """Ask the client for a write's data; `NsdServer.take` follows."""
        raise NotImplementedError(self.path)

    def answer(self, request: NsdRequest) -> cython.int:
        """Send data or acknowledgement; `NsdServer.answered` follows."""
        raise NotImplementedError(self.path)


@cython.final
@cython.cclass
class NsdServer(TrackOwner):
    """One server.

    Args:
        model: of the cluster.
        surface: of its disks.
        frontend: the way to the clients.
    """

    frontend: Frontend = None
    # what it consists of
    cpus: CpuPool = None
    raid: DeclusteredRaid = None
    log: Any = None
    dirty: Any = None
    block_bytes: cython.longlong = 0
    strip_bytes: cython.longlong = 0
    buffer_bytes: cython.longlong = 0
    most_tracks: cython.longlong = 0
    request_ps: cython.longlong = 0
    net_ps_kib: cython.longlong = 0
    small_bytes: cython.longlong = 0
    inline_bytes: cython.longlong = 0
    fast_bytes: cython.longlong = 0
    free_threads: list[Any] = None
    queues: list[Any] = None
    slots: list[Any] = None
    free_slots: list[Any] = None
    cache: TrackMemory = None
    loading: dict[Any, Any] = None
    requests: cython.longlong = 0  # taken so far
    active: cython.longlong = 0  # that have a thread
    active_ps: cython.longlong = 0
    changed_ps: cython.longlong = 0
    # requests without a thread, and most of them at any time
    waiting: cython.longlong = 0
    largest: cython.longlong = 0
    # reads that the memory held, and others
    hits: cython.longlong = 0
    misses: cython.longlong = 0
    joined: cython.longlong = 0  # reads that waited for another one of the same track
    logged: cython.longlong = 0  # writes that went to the log
    # of the memory, of tracks that were used and that are under way
    cached_bytes: cython.longlong = 0
    used_bytes: cython.longlong = 0

    def __init__(
        self, sim: Simulator, path: str, model: ClusterModel, surface: Surface, frontend: Frontend
    ) -> None:
        super().__init__(sim, path)
        server = model.server
        self.frontend = frontend
        self.cpus = CpuPool(server.cpus)
        self.raid = DeclusteredRaid(
            sim,
            f"{path}.raid",
            model.raid,
            server,
            surface,
            self.cpus,
            block_bytes=model.block_bytes,
            nsds=model.nsds,
        )
        self.log = FastWriteLog(sim, f"{path}.log", model, self.raid)
        self.dirty = self.log.dirty
        self.block_bytes = model.block_bytes
        self.strip_bytes = model.block_bytes // model.raid.data_strips
        self.buffer_bytes = server.buffer_bytes
        self.most_tracks = server.tracks
        self.request_ps = server.request_ps
        self.net_ps_kib = server.net_ps_kib
        self.small_bytes = server.small_bytes
        self.inline_bytes = server.inline_write_bytes
        self.fast_bytes = server.fast_write_bytes
        small = server.worker_threads * server.small_ratio // (server.small_ratio + 1)
        self.free_threads = [small, server.worker_threads - small]
        self.queues = [deque(), deque()]
        self.slots = []
        self.free_slots = []
        self.cache = TrackMemory()
        self.loading = {}

    def counters(self) -> dict[str, int]:
        """Requests, threads, memory."""
        names = (
            *("requests", "active", "waiting", "largest", "hits", "misses", "joined", "logged"),
            *("cached_bytes", "used_bytes"),
        )
        return {name: getattr(self, name) for name in names}

    # -- threads and memory ---------------------------------------------------------------

    def arrive(self, request: NsdRequest) -> cython.int:
        """A request has come."""
        large: cython.int = request.size_bytes > self.small_bytes
        self.requests += 1
        if self.queues[large] or not self._start(request, large):
            self.queues[large].append(request)
            self.waiting += 1
            self.largest = max(self.largest, self.waiting)
        return 0

    def _start(self, request: NsdRequest, large: cython.int) -> cython.bint:
        """Give a request a thread and memory; False if there is none."""
        free: cython.longlong = self.free_threads[large]
        needed: cython.longlong = self.used_bytes + request.size_bytes
        if free == 0 or (needed > self.buffer_bytes and self.used_bytes > 0):
            return False
        self.free_threads[large] = free - 1
        self.used_bytes = needed
        self._count(1)
        self._make_room()
        if self.free_slots:
            request.slot = self.free_slots.pop()
            self.slots[request.slot] = request
        else:
            request.slot = len(self.slots)
            self.slots.append(request)
        self.sim.at(self.cpus.book(self.sim.now, self.request_ps), self, 0, request.slot, CPU)
        return True

    def _count(self, change: cython.longlong) -> cython.int:
        """Add up threads at work over time."""
        self.active_ps += self.active * (self.sim.now - self.changed_ps)
        self.changed_ps = self.sim.now
        self.active += change
        return 0

    def threads_ps(self) -> int:
        """Threads at work over time, until now."""
        self._count(0)
        return self.active_ps

    def answered(self, request: NsdRequest) -> cython.int:
        """The answer is at the client: the thread takes the next request."""
        large: cython.int = request.size_bytes > self.small_bytes
        queue: cython.int
        waiting: Any
        self.used_bytes -= request.size_bytes
        self._count(-1)
        self.free_threads[large] += 1
        self.slots[request.slot] = None
        self.free_slots.append(request.slot)
        for queue in range(2):
            waiting = self.queues[queue]
            while waiting and self._start(waiting[0], queue):
                waiting.popleft()
                self.waiting -= 1
        return 0

    def _make_room(self) -> cython.int:
        """Forget the tracks that were used longest ago."""
        while self.cached_bytes > 0 and (
            self.cached_bytes + self.used_bytes > self.buffer_bytes
            or self.cache.count > self.most_tracks
        ):
            self.cached_bytes -= self._mask_bytes(self.cache.drop_oldest())
        return 0

    def _mask_bytes(self, mask: cython.longlong) -> cython.longlong:
        size: cython.longlong = 0
        while mask:
            size += self.strip_bytes
            mask &= mask - 1
        return size

    def _strips(self, begin: cython.longlong, end: cython.longlong) -> cython.longlong:
        """The strips that a range touches, as bits."""
        first: cython.longlong = begin // self.strip_bytes
        last: cython.longlong = (end - 1) // self.strip_bytes
        one: cython.longlong = 1
        return (one << (last + 1)) - (one << first)

    def _keep(
        self, key: cython.longlong, begin: cython.longlong, end: cython.longlong
    ) -> cython.int:
        """Keep the strips of a track that lie in a range."""
        first: cython.longlong = (begin + self.strip_bytes - 1) // self.strip_bytes
        last: cython.longlong = end // self.strip_bytes
        mask: cython.longlong
        held: cython.longlong
        if last <= first:
            return 0
        mask = self._strips(first * self.strip_bytes, last * self.strip_bytes)
        held = self.cache.held(key)
        self.cached_bytes += self._mask_bytes(mask & ~held)
        self.cache.put(key, held | mask)
        return self._make_room()

    # -- requests -------------------------------------------------------------------------

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A thread has taken a request."""
        request: NsdRequest = self.slots[arg]
        if not request.write:
            self._read(request)
        elif request.size_bytes <= self.inline_bytes:
            self._pass_on(request)
            self.take(request)
        else:
            self.frontend.fetch(request)

    def _read(self, request: NsdRequest) -> cython.int:
        begin: cython.longlong = request.offset_bytes
        end: cython.longlong = begin + request.size_bytes
        held: cython.longlong = self.cache.held(request.key)
        key: Any
        loading: Any
        if held != 0 and self._strips(begin, end) & ~held == 0:
            self.hits += 1
            self.cache.put(request.key, held)
            return self._send(request)
        key = request.key
        if self.dirty and key in self.dirty and self.log.holds(key, begin, end):
            self.hits += 1
            return self._send(request)
        loading = self.loading.get(key)
        if loading is not None:
            self.joined += 1
            loading.append(request)
            return 0
        self.misses += 1
        self.loading[key] = []
        return self.raid.read(request.nsd, request.track, begin, end, self, request)

    def _send(self, request: NsdRequest) -> cython.int:
        """Send what was read."""
        self._pass_on(request)
        return self.frontend.answer(request)

    def _pass_on(self, request: NsdRequest) -> cython.int:
        """Copy data between memory and socket."""
        self.cpus.book(self.sim.now, (request.size_bytes >> _KIB_BITS) * self.net_ps_kib)
        return 0

    def take(self, request: NsdRequest) -> cython.int:
        """The data of a write have been read from the socket."""
        end: cython.longlong = request.offset_bytes + request.size_bytes
        if request.size_bytes <= self.fast_bytes and request.size_bytes < self.block_bytes:
            self.logged += 1
            self.log.write(request, self)
            return 0
        if self.dirty and request.size_bytes == self.block_bytes and request.key in self.dirty:
            self.log.drop(request.key)
        return self.raid.write(request.nsd, request.track, request.offset_bytes, end, self, request)

    def track_done(self, op: TrackOp) -> cython.int:
        """A track has been read or written."""
        request: NsdRequest = op.tag
        other: NsdRequest
        self._keep(request.key, op.begin, op.end)
        if request.write:
            return self.frontend.answer(request)
        joined = self.loading.pop(request.key)
        self._send(request)
        for other in joined:
            self._read(other)
        return 0

    def is_logged(self, request: NsdRequest) -> cython.int:
        """The log has a write."""
        return self.frontend.answer(request)
