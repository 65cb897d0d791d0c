"""An NVMe drive: dies, registers, the buffer, and what a queue before each die takes."""

from typing import Any

import pytest

from simnet.kernel.component import Component
from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.storage.disk.command import Command
from simnet.storage.disk.model import DiskModel
from simnet.storage.disk.nvme import NvmeDrive
from tests.storage.parts import MS, US, Driver

READ_US, PROGRAM_US = 50, 800
MODEL: dict[str, Any] = {
    "medium": "flash",
    "capacity_bytes": 4096 * 16_384,
    # a sector passes in 1 us
    "bus_rate_bps": 512 * 8 * 10**6,
    "command_overhead_ps": 10 * US,
    "queue_depth": 64,
    "write_cache": True,
    "cache_bytes": 64 * 1024,
    "flash_channels": 4,
    "flash_page_bytes": 16_384,
    "flash_read_ps": READ_US * US,
    "flash_program_ps": PROGRAM_US * US,
    "program_unit_bytes": 32_768,
    "queues": 2,
}
PAGE = 32
UNIT = 64


def made(**changes: Any) -> tuple[Simulator, NvmeDrive, Driver]:
    sim = Simulator()
    drive = NvmeDrive(sim, "nvme0n1", DiskModel(**(MODEL | changes)))
    return sim, drive, Driver(sim, drive)


def test_a_read_takes_overhead_page_and_link() -> None:
    _, drive, driver = made()
    driver.send(8, 8)
    driver.run()
    assert driver.log == [(10 + READ_US + 8, 8)]
    assert drive.counters()["die_ps"] == READ_US * US


def test_dies_work_side_by_side_and_one_die_does_not() -> None:
    _, _, driver = made()
    for number in range(4):
        driver.send(number * PAGE, 1)
    driver.send(4 * PAGE, 1)
    driver.run()
    assert driver.log == [(61, 0), (62, 32), (63, 64), (64, 96), (10 + 2 * READ_US + 1, 128)]


def test_the_controller_takes_commands_one_after_the_other() -> None:
    """Two that come together, and a third when it is idle again."""
    _, _, driver = made(command_interval_ps=3 * US)
    driver.send(0, 1)
    driver.send(PAGE, 1)
    driver.send(2 * PAGE, 1, at=100 * US)
    driver.run()
    assert driver.log == [(61, 0), (64, PAGE), (161, 2 * PAGE)]


def test_the_three_pages_of_a_cell_take_longer_one_after_the_other() -> None:
    """On a die every third page is a cell's first."""
    _, drive, driver = made(flash_channels=1, flash_read_step_ps=7 * US)
    for number in range(4):
        driver.send(number * PAGE, 1, at=number * MS)
    driver.run(4 * MS)
    took = [at - 1000 * number - 11 for number, (at, _) in enumerate(driver.log)]
    assert took == [READ_US - 7, READ_US, READ_US + 7, READ_US - 7]
    assert drive.counters()["die_ps"] == (4 * READ_US - 7) * US


def test_a_first_page_takes_some_time() -> None:
    with pytest.raises(ValueError, match="flash_read_step: expected less than flash_read"):
        made(flash_read_step_ps=READ_US * US)


def test_a_slow_die_does_not_hold_up_the_link() -> None:
    _, _, driver = made()
    for number in range(4):
        driver.send(number * 4 * PAGE, 1)
    driver.send(PAGE, 1, at=20 * US)
    driver.run()
    assert (20 + 10 + READ_US + 1, PAGE) in driver.log


def test_a_page_is_read_once_for_commands_that_follow() -> None:
    _, drive, driver = made()
    for number in range(4):
        driver.send(8 * number, 8)
    driver.run()
    assert [at for at, _ in driver.log] == [68, 76, 84, 92]
    assert (drive.page_reads, drive.register_hits) == (1, 3)


def test_a_program_empties_the_register() -> None:
    _, drive, driver = made(flash_channels=1)
    driver.send(0, 1)
    driver.send(0, UNIT, at=MS, write=True, tag="write")
    driver.send(0, 1, at=5 * MS, tag="again")
    driver.run()
    assert (drive.page_reads, drive.register_hits) == (2, 0)


def test_a_write_is_complete_in_the_buffer() -> None:
    _, _, driver = made()
    driver.send(0, 8, write=True)
    driver.run(20 * MS)
    assert driver.log == [(18, 0)]


def test_writes_wait_for_room_when_the_buffer_is_full() -> None:
    """Two units fill it: the third write begins when a die has programmed the first one."""
    _, drive, driver = made()
    for number in range(3):
        driver.send(number * UNIT, UNIT, write=True)
    driver.run()
    first = 10 + UNIT
    assert [at for at, _ in driver.log] == [first, first + UNIT, first + PROGRAM_US + UNIT]
    assert drive.waiting_for() is None
    assert drive.held == 0


def test_a_read_waits_for_one_program_at_most() -> None:
    """Three units are due on the only die; a read comes after the one that is going on."""
    _, _, driver = made(flash_channels=1, cache_bytes=1024 * 1024)
    driver.send(0, 3 * UNIT, write=True, tag="write")
    begun = 10 + 3 * UNIT
    driver.send(10 * PAGE, 1, at=(begun + 100) * US, tag="read")
    driver.run()
    assert (begun + PROGRAM_US + READ_US + 1, "read") in driver.log


@pytest.mark.parametrize(("sequential", "programs"), [(True, 16), (False, 64)])
def test_what_is_written_at_random_is_programmed_more_often(
    *, sequential: bool, programs: int
) -> None:
    _, drive, driver = made(write_amplification_permille=4000, cache_bytes=16 * 1024 * 1024)
    for number in range(17):
        # each begins where the last one ended, or far from it
        sector = number * UNIT if sequential else (number * 97 % 50) * UNIT
        driver.send(sector, UNIT, at=number * 20 * MS, write=True)
    driver.sim.run_until(16 * 20 * MS - MS)
    # the first one continues nothing
    assert drive.programs == programs + (3 if sequential else 0)


class Arrivals(Component):
    """Reads that come at exponential intervals; sums up how long they took."""

    def __init__(self, sim: Simulator, drive: NvmeDrive, mean_ps: int) -> None:
        super().__init__(sim, "arrivals")
        self.drive = drive
        self.mean_ps = mean_ps
        self.random = stream(1, "arrivals")
        self.done = self.sum_ps = 0
        self.on_event(0, 0)

    def on_event(self, kind: int, arg: int) -> None:  # noqa: ARG002 - as every component
        page = self.random.below(self.drive.sectors // PAGE)
        self.drive.submit(Command(page * PAGE, 1, write=False, owner=self))
        self.sim.after(self.random.exponential_ps(self.mean_ps), self, 0, 0, 2)

    def command_done(self, command: Command) -> None:
        self.done += 1
        self.sum_ps += self.sim.now - command.submitted_ps


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_each_die_is_a_queue_with_constant_service(load: float) -> None:
    """Random arrivals at random dies: M/D/1 at each, which waits rho / 2 (1 - rho) services."""
    sim, drive, _ = made(bus_rate_bps=10**15, queue_depth=10_000)
    arrivals = Arrivals(sim, drive, round(READ_US * US / 4 / load))
    sim.run_until(600 * MS)
    wait_us = arrivals.sum_ps / arrivals.done / US - 10 - READ_US
    assert wait_us == pytest.approx(READ_US * load / (2 * (1 - load)), rel=0.08)
    assert drive.counters()["die_ps"] / (4 * sim.now) == pytest.approx(load, rel=0.02)
    # Little's law, to the picosecond for what is complete
    found = drive.counters()
    assert found["command_ps"] >= found["residence_ps"] >= arrivals.sum_ps


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"queues": 0}, "an NVMe drive has queues"),
        ({"cache_bytes": 4096}, "cache: expected at least the 32768 B that are programmed at once"),
        ({"flash_page_bytes": 1}, "flash_page: expected at least a sector of 512 B, got 1 B"),
        ({"program_unit_bytes": 300}, "program_unit: expected at least a sector of 512 B, got 300"),
    ],
)
def test_what_no_such_drive_is(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(**changes)
