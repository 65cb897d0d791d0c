"""A mechanical disk: arm, platter, buffer and a queue of tagged commands.

One mechanism moves at a time (`simnet.storage.disk.mechanism`); what is in the buffer is served
beside it. A command costs the controller's overhead (which overlaps with what the mechanism is
doing), a seek or a switch of heads, the wait until its first sector passes, and the passing of its
sectors, track by track.

With the write cache on a write is complete when its data are in the buffer. They are written when
no command needs the mechanism, or in turn with the commands when the buffer is three quarters
full; half of the buffer is for writes.
"""

from typing import Any

import cython

from simnet.kernel.priority import WIRE
from simnet.kernel.simulator import Simulator
from simnet.storage.disk.cache import WriteBuffer
from simnet.storage.disk.command import Command, Initiator
from simnet.storage.disk.drive import Drive
from simnet.storage.disk.mechanism import Mechanism
from simnet.storage.disk.model import DiskModel
from simnet.storage.disk.surface import Surface

_MEDIUM: cython.int = 0
_BUFFER: cython.int = 1


@cython.cclass
class Disk(Drive):
    """A mechanical disk; see `Drive` for what all disks count."""

    surface: Surface = None
    mechanism: Mechanism = None  # its arm and platters
    buffer: Any = None  # what has been written and is not on the medium
    queue: list[Any] = None
    flushes: list[Any] = None
    active: Command = None
    hits: cython.longlong = 0  # reads that needed no access to the medium
    # time that the mechanism worked on commands and on what the buffer had to write
    busy_ps: cython.longlong = 0
    _begun_ps: cython.longlong = 0

    def __init__(self, sim: Simulator, path: str, model: DiskModel) -> None:
        if model.medium != "magnetic":
            raise ValueError(f"{path}: a {model.medium} disk has no arm; see FlashDisk")
        super().__init__(sim, path, model)
        self.surface = Surface(model)
        self.mechanism = Mechanism(self.surface)
        self.size = self.surface.sectors
        self.buffer = WriteBuffer(self.surface.write_sectors)
        self.queue = []
        self.flushes = []

    def counters(self) -> dict[str, int]:
        """Commands, what they took, and how long the mechanism did what."""
        self._count(0)
        own = (
            *("commands", "read_sectors", "written_sectors", "hits", "busy_ps"),
            *("command_ps", "residence_ps"),
        )
        moves = ("seeks", "seek_cylinders", "seek_ps", "rotation_ps", "transfer_ps")
        found = {name: getattr(self, name) for name in own}
        return found | {name: getattr(self.mechanism, name) for name in moves}

    def waiting_for(self) -> str | None:
        """Nothing: whatever it holds has an event."""
        return None

    def _begin(self, command: Command) -> cython.int:
        """Serve a command from the buffer, or have it wait for the mechanism."""
        if command.write:
            return self._take_write(command)
        if self._held(command):
            self.hits += 1
            return self._serve(command)
        return self._enqueue(command)

    def flush(self, owner: Initiator, tag: object = None) -> None:
        """Complete a command of no sectors to `owner` when the write buffer is on the medium."""
        command: Command = Command(0, 0, write=True, owner=owner, tag=tag)
        self._take(command)
        if self.buffer.used == 0:
            self._serve(command)
        else:
            self.flushes.append(command)
            self._start()

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The mechanism is done with a command, or the bus with one from the buffer."""
        command: Command
        drained: list[Any] = []
        if kind == _BUFFER:
            self._complete(self.served.pop(arg))
            return
        command = self.active
        self.active = None
        self.busy_ps += self.sim.now - self._begun_ps
        if command.owner is None:
            self.buffer.written(command.sectors)
            if self.buffer.used == 0:
                drained = self.flushes
                self.flushes = []
        self._start()
        if command.owner is not None:
            self._complete(command)
        for flush in drained:
            self._complete(flush)

    def _held(self, command: Command) -> cython.bint:
        """Whether a read is in the buffer."""
        end: cython.longlong = command.sector + command.sectors
        if self.mechanism.holds(command.sector, end, self.sim.now, self.active is None):
            return True
        return self.surface.write_sectors > 0 and self.buffer.hold(command.sector, end)

    def _serve(self, command: Command) -> cython.int:
        """Complete a command that needs the bus only."""
        done_ps: cython.longlong = max(command.ready_ps, self.bus_free_ps)
        done_ps += self.surface.bus_ps(command.sectors)
        self.bus_free_ps = done_ps
        return self._complete_at(done_ps, command, _BUFFER)

    def _take_write(self, command: Command) -> cython.int:
        """A write's data cross the bus first; with room in the write buffer that is all."""
        self.mechanism.overwrite(command.sector, command.sector + command.sectors, self.sim.now)
        if self.surface.write_sectors > 0 and self.buffer.room(command.sectors):
            self.buffer.put(command.sector, command.sectors)
            self._serve(command)
            return self._start()
        self.bus_free_ps = max(command.ready_ps, self.bus_free_ps)
        self.bus_free_ps += self.surface.bus_ps(command.sectors)
        command.ready_ps = self.bus_free_ps
        return self._enqueue(command)

    def _enqueue(self, command: Command) -> cython.int:
        self.mechanism.locate(command)
        self.queue.append(command)
        return self._start()

    def _start(self) -> cython.int:
        """Let the idle mechanism take on the next command, or what the buffer has to write."""
        mechanism: Mechanism = self.mechanism
        candidates: list[Any] = self.queue
        command: Command
        writing: cython.bint
        position: cython.int
        if self.active is not None:
            return 0
        writing = self.surface.write_sectors > 0 and self._writes()
        if not self.queue and not writing:
            return 0
        if writing:
            candidates = self.queue + [
                self._destage(first, end) for first, end in self.buffer.extents
            ]
        mechanism.follow(self.sim.now)
        position = mechanism.choose(candidates, self.sim.now)
        command = candidates[position]
        if command.owner is None:
            self.buffer.extents.remove((command.sector, command.end))
        else:
            del self.queue[position]
        self.active = command
        self._begun_ps = self.sim.now
        self.sim.at(mechanism.execute(command, self.sim.now), self, _MEDIUM, 0, WIRE)
        return 0

    def _writes(self) -> bool:
        """Whether the mechanism may write what the buffer holds."""
        buffer = self.buffer
        return bool(buffer.extents) and (
            not self.queue or bool(self.flushes) or 4 * buffer.used > 3 * buffer.capacity
        )

    def _destage(self, sector: int, end: int) -> Command:
        command: Command = Command(sector, end - sector, write=True, owner=None)
        self.mechanism.locate(command)
        command.submitted_ps = self.sim.now
        return command
