"""An NVMe drive: several queues in front of flash that is written as a log.

The controller takes commands one after the other, at its rate at most. A read takes its pages' time
on their dies, which do what they were given in order, and then the link to the host. Cells of three
bits hold three pages; the later ones are told by more comparisons, so they take longer to read. The
page that a die read last is still in its register. A write is complete when its data are in the
buffer, which a capacitor keeps. What is in the buffer is programmed in units of several pages, in
turn on all dies, wherever its addresses are. A die has at most one program before it, so a read
waits for at most one. Collecting garbage costs programs, too: for data that do not continue an
earlier write, `write_amplification_permille` says how many in all.

There is no suspending of programs, no erasing, and no power limit. Sources: Agrawal and others,
"Design Tradeoffs for SSD Performance", 2008; NVM Express Base Specification 1.4, section 4.1.
"""

from array import array
from collections import deque

import cython

from simnet.kernel.compiled import Array
from simnet.kernel.priority import WIRE
from simnet.kernel.simulator import Simulator
from simnet.storage.disk.command import Command
from simnet.storage.disk.drive import Drive
from simnet.storage.disk.model import SECTOR_BYTES, DiskModel

_LOADED: cython.int = 0
_SENT: cython.int = 1
_BUFFERED: cython.int = 2
_PROGRAMMED: cython.int = 3
# pages of a cell of three bits
_PAGES: cython.int = 3
# streams of writes that a controller tells apart
_STREAMS: cython.int = 64


@cython.final
@cython.cclass
class NvmeDrive(Drive):
    """An NVMe drive; see `Drive` for what all disks count.

    Attributes:
        page_reads, programs: pages that dies read, and units that they programmed, both without
            what was found in a register.
        register_hits: pages that were found in one.
        die_ps: time that dies read and programmed, all together.
    """

    page_sectors: cython.longlong = 0
    unit_sectors: cython.longlong = 0
    buffer_sectors: cython.longlong = 0
    extra_permille: cython.longlong = 0
    read_ps: cython.longlong = 0
    read_step_ps: cython.longlong = 0
    interval_ps: cython.longlong = 0
    taken_ps: cython.longlong = 0
    program_ps: cython.longlong = 0
    sector_ps: cython.longlong = 0
    dies: cython.longlong = 0
    die_free_ps: Array[cython.longlong] = None
    register_page: Array[cython.longlong] = None
    register_ps: Array[cython.longlong] = None
    units: list[deque[bool]] = None
    next_die: cython.longlong = 0
    up_free_ps: cython.longlong = 0
    down_free_ps: cython.longlong = 0
    held: cython.longlong = 0
    unit_fill: cython.longlong = 0
    extra_fill: cython.longlong = 0
    blocked: deque[Command] = None
    ends: dict[int, bool] = None
    page_reads: cython.longlong = 0
    register_hits: cython.longlong = 0
    programs: cython.longlong = 0
    die_ps: cython.longlong = 0

    def __init__(self, sim: Simulator, path: str, model: DiskModel) -> None:
        if model.queues < 1:
            raise ValueError(f"{path}: an NVMe drive has queues; see FlashDisk and Disk")
        super().__init__(sim, path, model)
        self.depth = model.queues * model.queue_depth
        self.page_sectors = model.flash_page_bytes // SECTOR_BYTES
        self.unit_sectors = model.unit_bytes // SECTOR_BYTES
        self.buffer_sectors = model.cache_bytes // SECTOR_BYTES
        self.extra_permille = model.write_amplification_permille - 1000
        self.read_ps = model.flash_read_ps
        self.read_step_ps = model.flash_read_step_ps
        self.interval_ps = model.command_interval_ps
        self.taken_ps = -self.interval_ps
        self.program_ps = model.flash_program_ps
        self.sector_ps = model.bus_ps(1)
        self.dies = dies = model.flash_channels
        self.die_free_ps = array("q", [0]) * dies
        # the page in a die's register, and since when it is there
        self.register_page = array("q", [-1]) * dies
        self.register_ps = array("q", [0]) * dies
        # units that wait for a die, True for those that are in the buffer
        self.units = [deque() for _ in range(dies)]
        self.blocked = deque()
        self.ends = {}

    def counters(self) -> dict[str, int]:
        """Commands, pages, and how long it held commands."""
        self._count(0)
        own = ("commands", "read_sectors", "written_sectors", "page_reads", "register_hits")
        found = {name: getattr(self, name) for name in (*own, "programs", "die_ps")}
        return found | {
            "busy_ps": self.occupied_ps,
            "command_ps": self.command_ps,
            "residence_ps": self.residence_ps,
        }

    def waiting_for(self) -> str | None:
        """Room in the buffer, if writes wait for it."""
        return "room in the buffer" if self.blocked else None

    @cython.cfunc
    def _begin(self, command: Command) -> cython.int:
        if self.interval_ps > 0:
            self.taken_ps = max(self.taken_ps + self.interval_ps, self.sim.now)
            command.ready_ps = self.taken_ps + self.overhead_ps
        if not command.write:
            return self._read(command)
        if self.held >= self.buffer_sectors or len(self.blocked) > 0:
            self.blocked.append(command)
            return 0
        return self._accept(command)

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """Pages were read, a transfer ends, or a die has programmed."""
        command: Command
        if kind == _PROGRAMMED:
            self._programmed(arg)
            return
        command = self.served.pop(arg)
        if kind == _LOADED:
            self.up_free_ps = max(self.sim.now, self.up_free_ps) + command.sectors * self.sector_ps
            self._complete_at(self.up_free_ps, command, _SENT)
            return
        if kind == _BUFFERED:
            self._fill(command)
        self._complete(command)

    def _read(self, command: Command) -> cython.int:
        page: cython.longlong = command.sector // self.page_sectors
        last: cython.longlong = (command.sector + command.sectors - 1) // self.page_sectors
        done_ps: cython.longlong = command.ready_ps
        at_ps: cython.longlong
        die: cython.longlong
        read_ps: cython.longlong
        while page <= last:
            die = page % self.dies
            if self.register_page[die] == page:
                self.register_hits += 1
                at_ps = self.register_ps[die]
            else:
                read_ps = self.read_ps + (page // self.dies % _PAGES - 1) * self.read_step_ps
                at_ps = max(command.ready_ps, self.die_free_ps[die]) + read_ps
                self.die_free_ps[die] = self.register_ps[die] = at_ps
                self.register_page[die] = page
                self.page_reads += 1
                self.die_ps += read_ps
            done_ps = max(done_ps, at_ps)
            page += 1
        return self._complete_at(done_ps, command, _LOADED)

    # writes

    def _accept(self, command: Command) -> cython.int:
        """Take a write's data over the link."""
        self.held += command.sectors
        self.down_free_ps = max(command.ready_ps, self.down_free_ps, self.sim.now)
        self.down_free_ps += command.sectors * self.sector_ps
        return self._complete_at(self.down_free_ps, command, _BUFFERED)

    def _fill(self, command: Command) -> cython.int:
        """Cut what is in the buffer into units; what is written at random costs more of them."""
        self.unit_fill += command.sectors
        if self.extra_permille > 0 and not self._continues(command):
            self.extra_fill += command.sectors * self.extra_permille
        while self.unit_fill >= self.unit_sectors:
            self.unit_fill -= self.unit_sectors
            self._give(True)
        while self.extra_fill >= self.unit_sectors * 1000:
            self.extra_fill -= self.unit_sectors * 1000
            self._give(False)
        return 0

    def _continues(self, command: Command) -> cython.bint:
        """Whether it begins where one of the latest writes ended."""
        found: cython.bint = self.ends.pop(command.sector, False)
        self.ends[command.sector + command.sectors] = True
        if len(self.ends) > _STREAMS:
            del self.ends[next(iter(self.ends))]
        return found

    def _give(self, buffered: cython.bint) -> cython.int:
        """Give the next die a unit."""
        die: cython.longlong = self.next_die
        self.next_die = (die + 1) % self.dies
        self.units[die].append(buffered)
        if len(self.units[die]) == 1:
            self._program(die)
        return 0

    def _program(self, die: cython.longlong) -> cython.int:
        """Let a die program its next unit, behind the reads that it has."""
        end_ps: cython.longlong = max(self.sim.now, self.die_free_ps[die]) + self.program_ps
        self.die_free_ps[die] = end_ps
        # the register holds what is programmed
        self.register_page[die] = -1
        self.die_ps += self.program_ps
        self.sim.at(end_ps, self, _PROGRAMMED, die, WIRE)
        return 0

    def _programmed(self, die: cython.longlong) -> cython.int:
        """There is room where the unit was; writes that waited for it go on."""
        buffered: cython.bint = self.units[die].popleft()
        self.programs += 1
        if buffered:
            self.held -= self.unit_sectors
            while len(self.blocked) > 0 and self.held < self.buffer_sectors:
                self._accept(self.blocked.popleft())
        if len(self.units[die]) > 0:
            self._program(die)
        return 0
