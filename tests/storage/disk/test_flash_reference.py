"""Solid-state disks beside their algorithms, written down once more over plain lists."""

import heapq
from collections import defaultdict, deque
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.kernel.simulator import Simulator
from simnet.storage.disk.command import Command
from simnet.storage.disk.drive import Drive
from simnet.storage.disk.flash import FlashDisk
from simnet.storage.disk.model import DiskModel
from simnet.storage.disk.nvme import NvmeDrive
from tests.storage.disk.test_flash import MODEL as FLASH
from tests.storage.disk.test_nvme import MODEL as NVME
from tests.storage.parts import US, Driver

PAGE, UNIT, BUFFER, STREAMS = 32, 64, 128, 64
OVERHEAD, READ, PROGRAM = 10 * US, 50 * US, 800 * US
Job = tuple[int, int, int, bool]

# when, first sector and how many, whether it is a write; no two come at one time
jobs = st.lists(
    st.tuples(
        st.integers(0, 3000),
        st.sampled_from([0, 1, 8, 31, 32, 64, 96, 127, 128, 640, 1000]),
        st.sampled_from([1, 8, 32, 33, 64, 100]),
        st.booleans(),
    ),
    min_size=1,
    max_size=40,
).map(lambda drawn: [(us * US + n, *rest) for n, (us, *rest) in enumerate(sorted(drawn))])


class Exact(Driver):
    """Logs picoseconds."""

    def command_done(self, command: Command) -> None:
        self.log.append((self.sim.now, command.tag))


def ran(make: Any, model: dict[str, Any], script: list[Job]) -> tuple[Drive, list[tuple[int, int]]]:
    sim = Simulator()
    disk = make(sim, "disk", DiskModel(**model))
    driver = Exact(sim, disk)
    for tag, (at, sector, sectors, write) in enumerate(script):
        driver.send(sector, sectors, at=at, write=write, tag=tag)
    driver.run()
    assert not driver.refused
    return disk, sorted(driver.log)


def held(script: list[Job], done: dict[int, int]) -> tuple[int, int, int]:
    """Commands over time, time with any of them, and what they took in all."""
    changes = sorted([(at, 1) for at, *_ in script] + [(at, -1) for at in done.values()])
    total = busy = inside = last = 0
    for at, change in changes:
        total += inside * (at - last)
        busy += (at - last) if inside else 0
        inside, last = inside + change, at
    return total, busy, sum(done[tag] - script[tag][0] for tag in done)


@settings(max_examples=50)
@given(jobs, st.sampled_from([1, 4]), st.sampled_from([1, 2, 6]))
def test_channels_bus_and_buffer(script: list[Job], channels: int, room: int) -> None:
    model = FLASH | {"flash_channels": channels, "cache_bytes": room * FLASH["flash_page_bytes"]}
    disk, log = ran(FlashDisk, model, script)
    free: defaultdict[int, int] = defaultdict(int)
    programs: list[int] = []
    bus, reads, done = 0, 0, {}
    for tag, (at, sector, sectors, write) in enumerate(script):
        ready = at + OVERHEAD
        pages = sorted({one // 8 for one in range(sector, sector + sectors)})
        ends = []
        if write:
            waiting = sorted(end for end in programs if end > at)
            over = len(waiting) + len(pages) - room
            if over > 0 and waiting:
                ready = max(ready, waiting[:over][-1])
            bus = max(bus, ready) + sectors * US
        for page in pages:
            end = max(bus if write else ready, free[page % channels])
            end += 1000 * US if write else 100 * US
            free[page % channels] = end
            ends.append(end)
        if write:
            programs += ends
        else:
            bus = max(bus, *ends, 0) + sectors * US
            reads += len(pages)
        done[tag] = bus
    assert log == sorted((at, tag) for tag, at in done.items())
    total, busy, took = held(script, done)
    assert disk.counters() == {
        "commands": len(script),
        "read_sectors": sum(sectors for _, _, sectors, write in script if not write),
        "written_sectors": sum(sectors for _, _, sectors, write in script if write),
        "page_reads": reads,
        "page_programs": len(programs),
        "busy_ps": busy,
        "command_ps": total,
        "residence_ps": took,
    }


class Nvme:
    """Dies with a register, two directions of a link, a buffer that is cut into units."""

    def __init__(self, script: list[Job], dies: int, permille: int) -> None:
        self.script, self.dies, self.extra = script, dies, permille - 1000
        self.events: list[tuple[int, int, str, int]] = []
        self.order = 0
        for tag, job in enumerate(script):
            self.later(job[0], "comes", tag)
        self.free = [0] * dies
        self.register: list[tuple[int, int]] = [(-1, 0)] * dies
        self.units: list[deque[bool]] = [deque() for _ in range(dies)]
        self.turn = self.up = self.down = self.held = self.fill = self.extra_fill = 0
        self.blocked: deque[int] = deque()
        self.ends: list[int] = []
        self.done: dict[int, int] = {}
        self.page_reads = self.hits = self.programs = self.die_ps = 0
        while self.events:
            self.now, _, what, arg = heapq.heappop(self.events)
            getattr(self, what)(arg)

    def later(self, at: int, what: str, arg: int) -> None:
        self.order += 1
        heapq.heappush(self.events, (at, self.order, what, arg))

    def comes(self, tag: int) -> None:
        _, sector, sectors, write = self.script[tag]
        ready = at = self.now + OVERHEAD
        if write:
            if self.held >= BUFFER or self.blocked:
                self.blocked.append(tag)
            else:
                self.accept(tag)
            return
        for page in sorted({one // PAGE for one in range(sector, sector + sectors)}):
            die = page % self.dies
            if self.register[die][0] == page:
                self.hits += 1
            else:
                self.free[die] = max(ready, self.free[die]) + READ
                self.register[die] = (page, self.free[die])
                self.page_reads += 1
                self.die_ps += READ
            at = max(at, self.register[die][1])
        self.later(at, "loaded", tag)

    def loaded(self, tag: int) -> None:
        self.up = max(self.now, self.up) + self.script[tag][2] * US
        self.later(self.up, "complete", tag)

    def complete(self, tag: int) -> None:
        self.done[tag] = self.now

    def accept(self, tag: int) -> None:
        at, _, sectors, _ = self.script[tag]
        self.held += sectors
        self.down = max(at + OVERHEAD, self.down, self.now) + sectors * US
        self.later(self.down, "buffered", tag)

    def buffered(self, tag: int) -> None:
        _, sector, sectors, _ = self.script[tag]
        self.fill += sectors
        if sector in self.ends:
            self.ends.remove(sector)
        elif self.extra:
            self.extra_fill += sectors * self.extra
        if sector + sectors not in self.ends:
            self.ends = [*self.ends, sector + sectors][-STREAMS:]
        given = [True] * (self.fill // UNIT) + [False] * (self.extra_fill // (1000 * UNIT))
        self.fill %= UNIT
        self.extra_fill %= 1000 * UNIT
        for unit in given:
            self.units[self.turn].append(unit)
            if len(self.units[self.turn]) == 1:
                self.program(self.turn)
            self.turn = (self.turn + 1) % self.dies
        self.complete(tag)

    def program(self, die: int) -> None:
        self.free[die] = max(self.now, self.free[die]) + PROGRAM
        self.register[die] = (-1, 0)
        self.die_ps += PROGRAM
        self.later(self.free[die], "programmed", die)

    def programmed(self, die: int) -> None:
        self.programs += 1
        if self.units[die].popleft():
            self.held -= UNIT
            while self.blocked and self.held < BUFFER:
                self.accept(self.blocked.popleft())
        if self.units[die]:
            self.program(die)


@settings(max_examples=50)
@given(jobs, st.sampled_from([1, 3, 4]), st.sampled_from([1000, 1001, 2500]))
def test_dies_links_and_units(script: list[Job], dies: int, permille: int) -> None:
    model = NVME | {"flash_channels": dies, "write_amplification_permille": permille}
    disk, log = ran(NvmeDrive, model, script)
    nvme = Nvme(script, dies, permille)
    # a write that waits for room that never comes is not done
    assert log == sorted((at, tag) for tag, at in nvme.done.items())
    assert disk.waiting_for() == ("room in the buffer" if nvme.blocked else None)
    counters = disk.counters()
    if not nvme.blocked:
        total, busy, took = held(script, nvme.done)
        times = (counters["command_ps"], counters["busy_ps"], counters["residence_ps"])
        assert times == (total, busy, took)
    assert (counters["page_reads"], counters["register_hits"]) == (nvme.page_reads, nvme.hits)
    assert (counters["programs"], counters["die_ps"]) == (nvme.programs, nvme.die_ps)
    assert counters["commands"] == len(nvme.done)
    for name, write in (("read_sectors", False), ("written_sectors", True)):
        assert counters[name] == sum(script[tag][2] for tag in nvme.done if script[tag][3] == write)
