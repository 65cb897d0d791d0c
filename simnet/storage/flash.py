"""A solid-state disk: channels that read and program pages side by side, behind one bus.

The pages of the address space lie on the channels in turn, so a long transfer uses all of them and
a short one only one. A read takes the page's time on its channel, behind what the channel does
already, then the bus. A write is complete when its data are in the buffer, which a capacitor keeps;
the pages are programmed behind that, and a write whose pages would not fit waits for room. There is
no garbage collection: a write costs one page program a page, however full the disk is.
"""

from __future__ import annotations

from simnet.kernel.component import Component
from simnet.kernel.priority import WIRE
from simnet.kernel.simulator import Simulator
from simnet.storage.command import Command
from simnet.storage.model import SECTOR_BYTES, DiskModel

__all__ = ["FlashDisk"]


class FlashDisk(Component):
    """A solid-state disk that is driven by `submit`, as `Disk` is.

    Args:
        sim: the simulation.
        path: component path.
        model: what it is.

    Attributes:
        in_disk: commands that it has taken and not completed.
        commands, read_sectors, written_sectors: completed.
        page_reads, page_programs: on all channels.
        busy_ps: time that it held a command.
        command_ps: commands in the disk, over time (ps times commands).
        residence_ps: time that completed commands had been in the disk.
    """

    def __init__(self, sim: Simulator, path: str, model: DiskModel) -> None:
        if model.medium != "flash":
            raise ValueError(f"{path}: a {model.medium} disk has an arm; see Disk")
        super().__init__(sim, path)
        self.model = model
        self.page_sectors = model.flash_page_bytes // SECTOR_BYTES
        self.channel_free_ps = [0] * model.flash_channels
        self.bus_free_ps = 0
        # pages that are in the buffer, by the time at which they are programmed
        self.buffer_pages = max(model.cache_bytes // model.flash_page_bytes, 1)
        self.programs: list[int] = []
        self.served: dict[int, Command] = {}
        self._served_number = 0
        self.in_disk = self.commands = self.read_sectors = self.written_sectors = 0
        self.page_reads = self.page_programs = 0
        self.busy_ps = self.command_ps = self.residence_ps = self._changed_ps = 0

    @property
    def sectors(self) -> int:
        """Sectors that can be addressed."""
        return self.model.sectors

    def counters(self) -> dict[str, int]:
        """Commands, pages, and how long it held commands."""
        names = ("commands", "read_sectors", "written_sectors", "page_reads", "page_programs")
        self._count(0)
        times = ("busy_ps", "command_ps", "residence_ps")
        return {name: getattr(self, name) for name in (*names, *times)}

    def submit(self, command: Command) -> bool:
        """Take a command; False if the queue is full.

        Raises:
            ValueError: sectors that the disk does not have.
        """
        if command.sector < 0 or command.sectors < 1 or command.end > self.sectors:
            raise ValueError(f"{self.path}: {command!r} is not within {self.sectors}")
        if self.in_disk >= self.model.queue_depth:
            return False
        self._count(1)
        command.submitted_ps = self.sim.now
        command.ready_ps = self.sim.now + self.model.command_overhead_ps
        done_ps = self._write(command) if command.write else self._read(command)
        self._served_number += 1
        self.served[self._served_number] = command
        self.sim.at(done_ps, self, 0, self._served_number, WIRE)
        return True

    def on_event(self, kind: int, arg: int) -> None:
        """A command is complete."""
        command = self.served.pop(arg)
        self._count(-1)
        self.commands += 1
        self.residence_ps += self.sim.now - command.submitted_ps
        if command.write:
            self.written_sectors += command.sectors
        else:
            self.read_sectors += command.sectors
        command.owner.command_done(command)

    def _count(self, change: int) -> None:
        elapsed_ps = self.sim.now - self._changed_ps
        self.command_ps += self.in_disk * elapsed_ps
        if self.in_disk:
            self.busy_ps += elapsed_ps
        self._changed_ps = self.sim.now
        self.in_disk += change

    def _pages(self, command: Command) -> range:
        return range(
            command.sector // self.page_sectors, (command.end - 1) // self.page_sectors + 1
        )

    def _occupy(self, page: int, from_ps: int, for_ps: int) -> int:
        """Let a page's channel work; return when it is done."""
        channel = page % len(self.channel_free_ps)
        end_ps = max(from_ps, self.channel_free_ps[channel]) + for_ps
        self.channel_free_ps[channel] = end_ps
        return end_ps

    def _bus(self, from_ps: int, command: Command) -> int:
        self.bus_free_ps = max(from_ps, self.bus_free_ps) + self.model.bus_ps(command.sectors)
        return self.bus_free_ps

    def _read(self, command: Command) -> int:
        pages = self._pages(command)
        self.page_reads += len(pages)
        read_ps = self.model.flash_read_ps
        return self._bus(max(self._occupy(p, command.ready_ps, read_ps) for p in pages), command)

    def _write(self, command: Command) -> int:
        pages = self._pages(command)
        self.page_programs += len(pages)
        now = self.sim.now
        self.programs = [end_ps for end_ps in self.programs if end_ps > now]
        begin_ps = command.ready_ps
        beyond = len(self.programs) + len(pages) - self.buffer_pages
        if beyond > 0 and self.programs:
            # there is room when enough of the earlier pages have been programmed
            begin_ps = max(begin_ps, sorted(self.programs)[min(beyond, len(self.programs)) - 1])
        done_ps = self._bus(begin_ps, command)
        program_ps = self.model.flash_program_ps
        self.programs += [self._occupy(page, done_ps, program_ps) for page in pages]
        return done_ps
