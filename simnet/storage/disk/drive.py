"""What every disk keeps about the commands that it has taken, whatever is inside it."""

from typing import Any

import cython

from simnet.kernel.component import Component
from simnet.kernel.priority import WIRE
from simnet.kernel.simulator import Simulator
from simnet.storage.disk.command import Command
from simnet.storage.disk.model import DiskModel


@cython.cclass
class Drive(Component):
    """A disk that is driven by `submit`; subclasses say what a command takes."""

    model: Any = None  # what it is
    size: cython.longlong = 0
    depth: cython.longlong = 0
    overhead_ps: cython.longlong = 0
    bus_free_ps: cython.longlong = 0
    served: dict[int, Command] = None
    in_disk: cython.longlong = 0  # commands that it has taken and not completed
    # completed
    commands: cython.longlong = 0
    read_sectors: cython.longlong = 0
    written_sectors: cython.longlong = 0
    command_ps: cython.longlong = 0  # commands in the disk, over time (ps times commands)
    occupied_ps: cython.longlong = 0  # time with any command in it
    residence_ps: cython.longlong = 0  # time that completed commands had been in the disk
    _changed_ps: cython.longlong = 0
    _served_number: cython.longlong = 0

    def __init__(self, sim: Simulator, path: str, model: DiskModel) -> None:
        super().__init__(sim, path)
        self.model = model
        self.size = model.sectors
        self.depth = model.queue_depth
        self.overhead_ps = model.command_overhead_ps
        self.served = {}

    @property
    def sectors(self) -> int:
        """Sectors that can be addressed."""
        return self.size

    def submit(self, command: Command) -> cython.bint:
        """Take a command; False if the queue is full.

        Raises:
            ValueError: sectors that the disk does not have.
        """
        end: cython.longlong = command.sector + command.sectors
        if command.sector < 0 or command.sectors < 1 or end > self.size:
            raise ValueError(f"{self.path}: {command!r} is not within {self.size}")
        if self.in_disk >= self.depth:
            return False
        self._take(command)
        self._begin(command)
        return True

    def _begin(self, command: Command) -> cython.int:
        """Start on a command that has been taken."""
        raise NotImplementedError

    def _take(self, command: Command) -> cython.int:
        self._count(1)
        command.submitted_ps = self.sim.now
        command.ready_ps = self.sim.now + self.overhead_ps
        return 0

    def _complete_at(
        self, done_ps: cython.longlong, command: Command, kind: cython.int
    ) -> cython.int:
        """Have an event of `kind`, whose argument is the command's key in `served`."""
        self._served_number += 1
        self.served[self._served_number] = command
        self.sim.at(done_ps, self, kind, self._served_number, WIRE)
        return 0

    def _complete(self, command: Command) -> cython.int:
        self._count(-1)
        self.commands += 1
        self.residence_ps += self.sim.now - command.submitted_ps
        if command.write:
            self.written_sectors += command.sectors
        else:
            self.read_sectors += command.sectors
        command.owner.command_done(command)
        return 0

    def _count(self, change: cython.longlong) -> cython.int:
        """Add up commands over time."""
        elapsed_ps: cython.longlong = self.sim.now - self._changed_ps
        self.command_ps += self.in_disk * elapsed_ps
        if self.in_disk > 0:
            self.occupied_ps += elapsed_ps
        self._changed_ps = self.sim.now
        self.in_disk += change
        return 0
