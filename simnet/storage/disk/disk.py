"""A mechanical disk: arm, platter, buffer and a queue of tagged commands.

One mechanism moves at a time; what is in the buffer is served beside it. A command costs the
controller's overhead (which overlaps with what the mechanism is doing), a seek or a switch of
heads, the wait until its first sector passes, and the passing of its sectors, track by track.
Structure after Ruemmler and Wilkes (IEEE Computer 27(3), 1994); scheduling after Worthington,
Ganger and Patt, "Scheduling algorithms for modern disk drives" (SIGMETRICS 1994):

- fcfs: in the order of arrival;
- sstf: the least distance in cylinders; of two at the same, the earlier one;
- c-look: the next cylinder inwards, at the innermost one back to the outermost that is wanted;
- sptf: the least time until the first sector passes, seek and rotation together.

With the write cache on a write is complete when its data are in the buffer. They are written when
no command needs the mechanism, or in turn with the commands when the buffer is three quarters
full; half of the buffer is for writes.
"""

from __future__ import annotations

from typing import Any

from simnet.kernel.priority import WIRE
from simnet.kernel.simulator import Simulator
from simnet.storage.disk.cache import Segments, Stream, WriteBuffer
from simnet.storage.disk.command import Command, Initiator
from simnet.storage.disk.drive import Drive
from simnet.storage.disk.geometry import Geometry
from simnet.storage.disk.model import SECTOR_BYTES, DiskModel

__all__ = ["Disk"]

_MEDIUM = 0
_BUFFER = 1


class Disk(Drive):
    """A mechanical disk; see `Drive` for what all disks count.

    Attributes:
        hits: reads that needed no access to the medium.
        seeks, seek_cylinders: moves of the arm to other cylinders, and their distances.
        seek_ps, rotation_ps, transfer_ps: time that the mechanism moved, waited, passed sectors.
        busy_ps: time that the mechanism worked on commands and on what the buffer had to write.
    """

    def __init__(self, sim: Simulator, path: str, model: DiskModel) -> None:
        if model.medium != "magnetic":
            raise ValueError(f"{path}: a {model.medium} disk has no arm; see FlashDisk")
        super().__init__(sim, path, model)
        self.geometry = Geometry(model)
        buffer_sectors = model.cache_bytes // SECTOR_BYTES
        writes = buffer_sectors // 2 if model.write_cache else 0
        per_stream = (buffer_sectors - writes) // max(model.cache_segments, 1)
        self.segments = Segments(model.cache_segments, per_stream)
        self.buffer = WriteBuffer(writes)
        self.queue: list[Command] = []
        self.flushes: list[Command] = []
        self.active: Any = None
        self.stream: Stream | None = None
        self.cylinder = self.head = 0
        self.hits = self.seeks = self.seek_cylinders = 0
        self.seek_ps = self.rotation_ps = self.transfer_ps = self.busy_ps = 0
        self._begun_ps = 0

    @property
    def sectors(self) -> int:
        """Sectors that can be addressed."""
        return self.geometry.sectors

    def counters(self) -> dict[str, int]:
        """Commands, what they took, and how long the mechanism did what."""
        names = (
            *("commands", "read_sectors", "written_sectors", "hits", "seeks", "seek_cylinders"),
            *("seek_ps", "rotation_ps", "transfer_ps", "busy_ps", "command_ps", "residence_ps"),
        )
        self._count(0)
        return {name: getattr(self, name) for name in names}

    def waiting_for(self) -> str | None:
        """Nothing: whatever it holds has an event."""
        return None

    def _begin(self, command: Command) -> None:
        """Serve a command from the buffer, or have it wait for the mechanism."""
        if command.write:
            self._take_write(command)
        elif self._held(command):
            self.hits += 1
            self._serve(command)
        else:
            self._enqueue(command)

    def flush(self, owner: Initiator, tag: object = None) -> None:
        """Complete a command of no sectors to `owner` when the write buffer is on the medium."""
        command = Command(0, 0, write=True, owner=owner, tag=tag)
        self._take(command)
        if self.buffer.used == 0:
            self._serve(command)
        else:
            self.flushes.append(command)
            self._start()

    def on_event(self, kind: int, arg: int) -> None:
        """The mechanism is done with a command, or the bus with one from the buffer."""
        if kind == _BUFFER:
            self._complete(self.served.pop(arg))
            return
        command = self.active
        self.active = None
        self.busy_ps += self.sim.now - self._begun_ps
        drained: list[Command] = []
        if command.owner is None:
            self.buffer.written(command.sectors)
            if self.buffer.used == 0:
                drained, self.flushes = self.flushes, []
        self._start()
        if command.owner is not None:
            self._complete(command)
        for flush in drained:
            self._complete(flush)

    def _held(self, command: Command) -> bool:
        """Whether a read is in the buffer. One that the heads are just reading keeps them going."""
        stream = self.stream
        if stream is not None and self.active is None:
            reached = stream.advance(self.sim.now)
            if stream.start <= command.sector and command.end <= reached:
                stream.extend(command.end + self.segments.sectors, self.sim.now)
                return True
        return self.segments.hold(command.sector, command.end) or self.buffer.hold(
            command.sector, command.end
        )

    def _serve(self, command: Command) -> None:
        """Complete a command that needs the bus only."""
        done_ps = max(command.ready_ps, self.bus_free_ps) + self.model.bus_ps(command.sectors)
        self.bus_free_ps = done_ps
        self._complete_at(done_ps, command, _BUFFER)

    def _take_write(self, command: Command) -> None:
        """A write's data cross the bus first; with room in the write buffer that is all."""
        self.segments.drop(command.sector, command.end)
        stream = self.stream
        if stream is not None and command.sector < stream.limit and stream.start < command.end:
            self._freeze()
            self.segments.drop(command.sector, command.end)
        if self.buffer.room(command.sectors):
            self.buffer.put(command.sector, command.sectors)
            self._serve(command)
            self._start()
            return
        self.bus_free_ps = max(command.ready_ps, self.bus_free_ps)
        self.bus_free_ps += self.model.bus_ps(command.sectors)
        command.ready_ps = self.bus_free_ps
        self._enqueue(command)

    def _enqueue(self, command: Command) -> None:
        command.place = self.geometry.place(command.sector)
        self.queue.append(command)
        self._start()

    def _freeze(self) -> None:
        """Something else needs the arm: what has been read ahead stays in the buffer."""
        stream = self.stream
        if stream is not None:
            stream.advance(self.sim.now)
            self.segments.keep(stream.start, stream.sector)
            self.cylinder, self.head = stream.cylinder, stream.head
            self.stream = None

    def _start(self) -> None:
        """Let the idle mechanism take on the next command, or what the buffer has to write."""
        if self.active is not None:
            return
        writing = self.buffer.extents and (
            not self.queue or self.flushes or 4 * self.buffer.used > 3 * self.buffer.capacity
        )
        if not self.queue and not writing:
            return
        candidates = list(self.queue)
        if writing:
            candidates += [self._destage(*extent) for extent in self.buffer.extents]
        stream = self.stream
        if stream is not None:
            stream.advance(self.sim.now)
            self.cylinder, self.head = stream.cylinder, stream.head
        command = candidates[self._choose(candidates)]
        if command.owner is None:
            self.buffer.extents.remove((command.sector, command.end))
        else:
            self.queue.remove(command)
        self.active = command
        self._begun_ps = self.sim.now
        self.sim.at(self._execute(command), self, _MEDIUM, 0, WIRE)

    def _destage(self, sector: int, end: int) -> Command:
        command = Command(sector, end - sector, write=True, owner=None)
        command.place = self.geometry.place(sector)
        command.submitted_ps = self.sim.now
        return command

    def _choose(self, candidates: list[Command]) -> int:
        """The position of the command that goes next."""
        policy = self.model.queue_policy
        if len(candidates) == 1 or policy == "fcfs":
            return 0
        limit_ps = self.model.queue_age_limit_ps
        if limit_ps and self.sim.now - candidates[0].submitted_ps > limit_ps:
            return 0
        if policy == "sstf":
            return _least([abs(each.place.cylinder - self.cylinder) for each in candidates])
        if policy == "c-look":
            wrap = self.geometry.cylinders
            return _least([(each.place.cylinder - self.cylinder) % wrap for each in candidates])
        return self._soonest(candidates)

    def _soonest(self, candidates: list[Command]) -> int:
        """The position of the command whose first sector passes first."""
        geometry, stream = self.geometry, self.stream
        rotation_ps, switch_ps = geometry.rotation_ps, geometry.switch_ps
        settle_ps, seek_ps = self.model.write_settle_ps, geometry.curve.seek_ps
        cylinder, head, now = self.cylinder, self.head, self.sim.now
        best, best_ps = 0, -1
        for position, command in enumerate(candidates):
            at_ps = max(now, command.ready_ps)
            place = command.place
            if stream is None or command.write or not self._passing(stream, command):
                if place.cylinder != cylinder or place.head != head:
                    distance = abs(place.cylinder - cylinder)
                    at_ps += seek_ps(distance) if distance else switch_ps
                    if command.write:
                        at_ps += settle_ps
                at_ps += (place.angle_ps - at_ps) % rotation_ps
            if best_ps < 0 or at_ps < best_ps:
                best, best_ps = position, at_ps
        return best

    @staticmethod
    def _passing(stream: Stream, command: Command) -> bool:
        """Whether a command begins in what has been read ahead."""
        return stream.start <= command.sector <= stream.sector

    def _execute(self, command: Command) -> int:
        """Move the mechanism for a command; return when it is done."""
        start_ps = max(self.sim.now, command.ready_ps)
        stream = self.stream
        if stream is not None:
            stream.advance(start_ps)
            if not command.write and self._passing(stream, command):
                return self._continue(stream, command, start_ps)
        self._freeze()
        end_ps = self._transfer(start_ps, command)
        if not command.write and self.segments.count:
            track = (self.cylinder, self.head)
            self.stream = Stream(self.geometry, command.sector, command.end, end_ps, track)
            self.stream.extend(command.end + self.segments.sectors, end_ps)
        if not command.write:
            end_ps = max(end_ps, start_ps + self.model.bus_ps(command.sectors))
        return end_ps

    def _continue(self, stream: Stream, command: Command, start_ps: int) -> int:
        """Serve a read that begins in what is being read ahead: no seek, no rotation."""
        stream.extend(command.sector, start_ps)
        before_ps = stream.time_ps
        end_ps = stream.read_until(command.end)
        self.transfer_ps += end_ps - before_ps
        self.cylinder, self.head = stream.cylinder, stream.head
        stream.extend(command.end + self.segments.sectors, end_ps)
        return max(end_ps, start_ps + self.model.bus_ps(command.sectors))

    def _transfer(self, now_ps: int, command: Command) -> int:
        """Seek, wait and pass sectors, track by track; return the end."""
        geometry = self.geometry
        sector, left = command.sector, command.sectors
        while left:
            place = geometry.place(sector)
            move_ps = geometry.move_ps(self.cylinder, self.head, place)
            if move_ps and command.write:
                move_ps += self.model.write_settle_ps
            if place.cylinder != self.cylinder:
                self.seeks += 1
                self.seek_cylinders += abs(place.cylinder - self.cylinder)
            now_ps += move_ps
            wait_ps = geometry.wait_ps(now_ps, place)
            count = min(left, place.left)
            pass_ps = geometry.pass_ps(count, place.zone)
            self.seek_ps += move_ps
            self.rotation_ps += wait_ps
            self.transfer_ps += pass_ps
            now_ps += wait_ps + pass_ps
            sector += count
            left -= count
            self.cylinder, self.head = place.cylinder, place.head
        return now_ps


def _least(values: list[int]) -> int:
    """The position of the least value, the first of several."""
    return values.index(min(values))
