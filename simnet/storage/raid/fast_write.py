"""The log of fast writes: small writes are acknowledged from mirrored SSDs, and written back later.

A track that the log has completely is written back at once, as a whole. Others are written back in
the order in which they got there when the log holds more than `nsdRAIDFlusherFWLogHighWatermarkMB`,
by at most `nsdRAIDFlusherThreadsHighWatermark` threads. A write that would make it larger than
`nsdRAIDFlusherFWLogLimitMB` waits. What it has not written back is in the server's memory too.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Any

from simnet.storage.disk.command import Command
from simnet.storage.disk.flash import FlashDisk
from simnet.storage.disk.model import SECTOR_BYTES
from simnet.storage.raid.track import TrackOp, TrackOwner

if TYPE_CHECKING:
    from simnet.kernel.simulator import Simulator
    from simnet.storage.nsd.model import ClusterModel
    from simnet.storage.nsd.nsd import NsdRequest
    from simnet.storage.raid.declustered import DeclusteredRaid


class _Dirty:
    """What the log has of a track: ranges that do not touch, and bytes written to the log."""

    __slots__ = ("key", "log_bytes", "nsd", "ranges", "track")

    def __init__(self, key: int, nsd: int, track: int) -> None:
        self.key, self.nsd, self.track = key, nsd, track
        self.ranges: list[tuple[int, int]] = []
        self.log_bytes = 0

    def add(self, begin: int, end: int) -> None:
        self.log_bytes += end - begin
        kept = []
        for low, high in self.ranges:
            if high < begin or end < low:
                kept.append((low, high))
            else:
                begin, end = min(begin, low), max(end, high)
        self.ranges = sorted([*kept, (begin, end)])


class FastWriteLog(TrackOwner):
    """The log of one server.

    Args:
        model: of the cluster.
        raid: where tracks are written back to.

    Attributes:
        disks: the SSDs; each has all of the log.
        dirty: tracks that have not been written back, by key.
        used_bytes: in the log.
        flushing: tracks that are being written back.
        written_bytes, flushed_bytes, dropped_bytes: that came, that were written back, and that a
            write of the whole track made needless.
    """

    def __init__(
        self, sim: Simulator, path: str, model: ClusterModel, raid: DeclusteredRaid
    ) -> None:
        super().__init__(sim, path)
        self.server = model.server
        self.block_bytes = model.block_bytes
        self.raid = raid
        self.disks = [
            FlashDisk(sim, f"{path}.ssd{n}", model.log_disk) for n in range(model.server.log_disks)
        ]
        self.dirty: OrderedDict[int, _Dirty] = OrderedDict()
        self.waiting: deque[tuple[NsdRequest, Any]] = deque()
        self.unsent: deque[tuple[FlashDisk, Command]] = deque()
        self.used_bytes = self.flushing = self.flushing_bytes = 0
        self.written_bytes = self.flushed_bytes = self.dropped_bytes = 0
        self.sector = 0

    def counters(self) -> dict[str, int]:
        """Bytes that came, were written back and are held."""
        names = ("written_bytes", "flushed_bytes", "dropped_bytes", "used_bytes", "flushing")
        return {name: getattr(self, name) for name in names}

    def write(self, request: NsdRequest, server: Any) -> None:
        """Log a write; `server.is_logged` follows."""
        if self.used_bytes + request.size_bytes > self.server.log_limit_bytes or self.waiting:
            self.waiting.append((request, server))
            self._flush_oldest()
            return
        self._log(request, server)

    def _log(self, request: NsdRequest, server: Any) -> None:
        size = request.size_bytes
        self.used_bytes += size
        self.written_bytes += size
        sectors = -(-size // SECTOR_BYTES)
        room = min(self.server.log_limit_bytes // SECTOR_BYTES, self.disks[0].sectors)
        if self.sector + sectors > room:
            self.sector = 0
        state = [len(self.disks), request, server]
        for disk in self.disks:
            self._submit(disk, Command(self.sector, sectors, write=True, owner=self, tag=state))
        self.sector += sectors

    def _submit(self, disk: FlashDisk, command: Command) -> None:
        if not disk.submit(command):
            self.unsent.append((disk, command))

    def command_done(self, command: Command) -> None:
        """One of the SSDs has a write."""
        for _ in range(len(self.unsent)):
            self._submit(*self.unsent.popleft())
        state = command.tag
        state[0] -= 1
        if state[0] > 0:
            return
        _, request, server = state
        entry = self.dirty.get(request.key)
        if entry is None:
            entry = self.dirty[request.key] = _Dirty(request.key, request.nsd, request.track)
        entry.add(request.offset_bytes, request.offset_bytes + request.size_bytes)
        if entry.ranges == [(0, self.block_bytes)]:
            self._flush(entry)
        self._flush_oldest()
        server.is_logged(request)

    def holds(self, key: int, begin: int, end: int) -> bool:
        """Whether the log has all of a range."""
        entry = self.dirty.get(key)
        return entry is not None and any(low <= begin and end <= high for low, high in entry.ranges)

    def drop(self, key: int) -> None:
        """All of a track is being written anew."""
        entry = self.dirty.pop(key, None)
        if entry is not None:
            self.dropped_bytes += entry.log_bytes
            self._free(entry.log_bytes)

    def _flush_oldest(self) -> None:
        """Write back what came first while the log holds too much."""
        high, threads = self.server.log_high_bytes, self.server.flusher_threads
        while self.dirty and self.flushing < threads:
            if self.used_bytes - self.flushing_bytes <= high and not self.waiting:
                return
            self._flush(next(iter(self.dirty.values())))

    def _flush(self, entry: _Dirty) -> None:
        """Write a track back: what was logged, with a gap between ranges written as it was."""
        del self.dirty[entry.key]
        self.flushing += 1
        self.flushing_bytes += entry.log_bytes
        begin, end = entry.ranges[0][0], entry.ranges[-1][1]
        self.raid.write(entry.nsd, entry.track, begin, end, self, entry)

    def track_done(self, op: TrackOp) -> int:
        """A track has been written back."""
        entry: _Dirty = op.tag
        self.flushing -= 1
        self.flushing_bytes -= entry.log_bytes
        self.flushed_bytes += entry.log_bytes
        self._free(entry.log_bytes)
        self._flush_oldest()
        return 0

    def _free(self, size: int) -> None:
        self.used_bytes -= size
        while self.waiting:
            request, server = self.waiting[0]
            if self.used_bytes + request.size_bytes > self.server.log_limit_bytes:
                return
            self.waiting.popleft()
            self._log(request, server)
