"""What every disk keeps about the commands that it has taken, whatever is inside it."""

from __future__ import annotations

from simnet.kernel.component import Component
from simnet.kernel.priority import WIRE
from simnet.kernel.simulator import Simulator
from simnet.storage.disk.command import Command
from simnet.storage.disk.model import DiskModel

__all__ = ["Drive"]


class Drive(Component):
    """A disk that is driven by `submit`; subclasses say what a command takes.

    Args:
        sim: the simulation.
        path: component path.
        model: what it is.

    Attributes:
        in_disk: commands that it has taken and not completed.
        commands, read_sectors, written_sectors: completed.
        command_ps: commands in the disk, over time (ps times commands).
        residence_ps: time that completed commands had been in the disk.
    """

    def __init__(self, sim: Simulator, path: str, model: DiskModel) -> None:
        super().__init__(sim, path)
        self.model = model
        self.bus_free_ps = 0
        self.served: dict[int, Command] = {}
        self.in_disk = self.commands = self.read_sectors = self.written_sectors = 0
        self.command_ps = self.residence_ps = self._changed_ps = 0
        self._served_number = 0

    @property
    def sectors(self) -> int:
        """Sectors that can be addressed."""
        return self.model.sectors

    def submit(self, command: Command) -> bool:
        """Take a command; False if the queue is full.

        Raises:
            ValueError: sectors that the disk does not have.
        """
        if command.sector < 0 or command.sectors < 1 or command.end > self.sectors:
            raise ValueError(f"{self.path}: {command!r} is not within {self.sectors}")
        if self.in_disk >= self.model.queue_depth:
            return False
        self._take(command)
        self._begin(command)
        return True

    def _begin(self, command: Command) -> None:
        """Start on a command that has been taken."""
        raise NotImplementedError

    def _take(self, command: Command) -> None:
        self._count(1)
        command.submitted_ps = self.sim.now
        command.ready_ps = self.sim.now + self.model.command_overhead_ps

    def _complete_at(self, done_ps: int, command: Command, kind: int) -> None:
        """Have an event of `kind`, whose argument is the command's key in `served`."""
        self._served_number += 1
        self.served[self._served_number] = command
        self.sim.at(done_ps, self, kind, self._served_number, WIRE)

    def _complete(self, command: Command) -> None:
        self._count(-1)
        self.commands += 1
        self.residence_ps += self.sim.now - command.submitted_ps
        if command.write:
            self.written_sectors += command.sectors
        else:
            self.read_sectors += command.sectors
        command.owner.command_done(command)

    def _count(self, change: int) -> None:
        """Add up commands over time."""
        self.command_ps += self.in_disk * (self.sim.now - self._changed_ps)
        self._changed_ps = self.sim.now
        self.in_disk += change
