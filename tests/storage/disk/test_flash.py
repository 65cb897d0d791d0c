"""The solid-state disk: channels side by side, one bus, a buffer for writes."""

from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.kernel.simulator import Simulator
from simnet.scenario.parts.disks.build import disk_model, make_disk
from simnet.storage.disk.disk import Disk
from simnet.storage.disk.flash import FlashDisk
from simnet.storage.disk.model import DiskModel
from tests.house.examples import examples
from tests.storage.parts import ROUND, SECTOR, US, Driver

# a sector crosses the bus in 1 us; pages of 8 sectors
MODEL: dict[str, Any] = {
    "medium": "flash",
    "capacity_bytes": 8000 * SECTOR,
    "bus_rate_bps": SECTOR * 8 * 10**6,
    "command_overhead_ps": 10 * US,
    "queue_depth": 64,
    "cache_bytes": 2 * 8 * SECTOR,
    "flash_channels": 4,
    "flash_page_bytes": 8 * SECTOR,
    "flash_read_ps": 100 * US,
    "flash_program_ps": 1000 * US,
}


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (DiskModel(**MODEL), "flash_channels"),
        (DiskModel(**MODEL), "flash_page_bytes"),
        (DiskModel(**MODEL), "flash_read_ps"),
        (DiskModel(**MODEL), "flash_program_ps"),
        *((ROUND, name) for name in ("rpm", "heads", "outer_rate_bps", "inner_rate_bps")),
    ],
)
def test_a_disk_needs_what_its_medium_has(model: DiskModel, name: str) -> None:
    known = asdict(model)
    del known[name]
    with pytest.raises(ValueError, match=f"a {model.medium} disk needs {name} above 0"):
        DiskModel(**known)


def drive(*commands: tuple[int, int, bool]) -> Driver:
    sim = Simulator()
    driver = Driver(sim, FlashDisk(sim, "ssd", DiskModel(**MODEL)))
    for sector, sectors, write in commands:
        driver.send(sector, sectors, write=write)
    sim.run_until(10**12)
    return driver


def test_pages_on_different_channels_are_read_side_by_side() -> None:
    assert drive((0, 32, False)).log == [(10 + 100 + 32, 0)]


def test_pages_on_one_channel_wait_for_each_other() -> None:
    assert drive((0, 8, False), (32, 8, False)).log == [(118, 0), (218, 32)]


def test_the_bus_carries_one_command_at_a_time() -> None:
    assert drive((0, 8, False), (8, 8, False)).log == [(118, 0), (126, 8)]


def test_a_write_is_complete_in_the_buffer() -> None:
    assert drive((0, 8, True)).log == [(18, 0)]


def test_a_write_waits_for_room_in_the_buffer() -> None:
    log = drive((0, 8, True), (8, 8, True), (16, 8, True)).log
    # two pages fit; the first is programmed at 18 + 1000
    assert log == [(18, 0), (26, 8), (1018 + 8, 16)]


def test_a_read_waits_for_its_channel_to_program() -> None:
    assert drive((0, 8, True), (0, 8, False)).log[1] == (1018 + 100 + 8, 0)


@settings(max_examples=examples(200))
@given(
    st.lists(
        st.tuples(st.integers(0, 7900), st.integers(1, 64), st.integers(0, 10**10), st.booleans()),
        max_size=60,
    )
)
def test_nothing_is_lost_and_littles_law_holds(commands: list[tuple[int, int, int, bool]]) -> None:
    sim = Simulator()
    disk = FlashDisk(sim, "ssd", DiskModel(**MODEL))
    driver = Driver(sim, disk)
    for number, (sector, sectors, at, write) in enumerate(commands):
        driver.send(sector, sectors, at=at, write=write, tag=number)
    sim.run_until(10**13)
    assert sorted(driver.order + driver.refused) == list(range(len(commands)))
    counters = disk.counters()
    assert counters["command_ps"] == counters["residence_ps"]
    assert counters["commands"] == len(driver.order)


@pytest.mark.parametrize(
    ("name", "kind"), [("ssd-sas-400gb", FlashDisk), ("scsi-15k-73gb", Disk), ("sas-7k2-2tb", Disk)]
)
def test_every_model_makes_a_disk(name: str, kind: type) -> None:
    assert type(make_disk(Simulator(), "disk", disk_model(name))) is kind


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"medium": "tape"}, "medium 'tape' is not"),
        ({"flash_channels": 0}, "a flash disk needs flash_channels above 0"),
        ({"medium": "magnetic"}, "a magnetic disk needs rpm above 0"),
        ({"queue_policy": "lifo"}, "is not one of fcfs, sstf, c-look, sptf"),
    ],
)
def test_a_model_that_is_no_disk_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DiskModel(**(MODEL | changes))


@pytest.mark.parametrize("name", [name for name in MODEL if name.startswith("flash_")])
def test_what_flash_needs_has_no_default(name: str) -> None:
    values: dict[str, Any] = {key: value for key, value in MODEL.items() if key != name}
    with pytest.raises(ValueError, match=f"a flash disk needs {name} above 0"):
        DiskModel(**values)
