"""A solid-state disk: channels that read and program pages side by side, behind one bus.

The pages of the address space lie on the channels in turn, so a long transfer uses all of them and
a short one only one. A read takes the page's time on its channel, behind what the channel does
already, then the bus. A write is complete when its data are in the buffer, which a capacitor keeps;
the pages are programmed behind that, and a write whose pages would not fit waits for room. There is
no garbage collection: a write costs one page program a page, however full the disk is.
"""

from typing import Any

import cython

from simnet.kernel.simulator import Simulator
from simnet.storage.disk.command import Command
from simnet.storage.disk.drive import Drive
from simnet.storage.disk.model import SECTOR_BYTES, DiskModel


@cython.cclass
class FlashDisk(Drive):
    """A solid-state disk; see `Drive` for what all disks count.

    Attributes:
        page_reads, page_programs: on all channels.
    """

    page_sectors: cython.longlong = 0
    channel_free_ps: list[Any] = None
    buffer_pages: cython.longlong = 0
    programs: list[int] = None
    page_reads: cython.longlong = 0
    page_programs: cython.longlong = 0

    def __init__(self, sim: Simulator, path: str, model: DiskModel) -> None:
        if model.medium != "flash":
            raise ValueError(f"{path}: a {model.medium} disk has an arm; see Disk")
        super().__init__(sim, path, model)
        self.page_sectors = model.flash_page_bytes // SECTOR_BYTES
        self.channel_free_ps = [0] * model.flash_channels
        # pages that are in the buffer, by the time at which they are programmed; one always fits
        self.buffer_pages = model.cache_bytes // model.flash_page_bytes
        self.programs = []

    def counters(self) -> dict[str, int]:
        """Commands, pages, and how long it held commands."""
        names = ("commands", "read_sectors", "written_sectors", "page_reads", "page_programs")
        self._count(0)
        times = {"busy_ps": self.occupied_ps, "command_ps": self.command_ps}
        found = {name: getattr(self, name) for name in names}
        return found | times | {"residence_ps": self.residence_ps}

    @cython.cfunc
    def _begin(self, command: Command) -> cython.int:
        done_ps = self._write(command) if command.write else self._read(command)
        return self._complete_at(done_ps, command, 0)

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A command is complete."""
        self._complete(self.served.pop(arg))

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
