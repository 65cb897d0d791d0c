"""Values that are legal one by one: together they work, or are refused in a line."""

from collections.abc import Iterator

import pytest

import simnet
from simnet.errors import InputError
from simnet.scenario.core.checks import MOST_BYTES
from simnet.scenario.core.load import _assembled
from simnet.scenario.core.schema import spec_of
from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Quantity
from simnet.scenario.core.subject import subjects
from simnet.scenario.scenarios import scenario_names

# Memory and buses between nodes serve whole cache lines, all else bytes.
_LINE_BITS = 8 * 32


@pytest.mark.parametrize(
    ("scenario", "setting", "value", "message"),
    [
        ("nvme-local", "system.server", "ibm-x460", "the ports of ibm-x460 need a switch"),
        ("nvme-local", "drive.cache", "0 B", "the 65536 B that are programmed at once"),
        ("nvme-local", "drive.flash_page", "1 B", "expected at least a sector of 512 B, got 1 B"),
        ("nvme-local", "drive.program_unit", "1 B", "expected at least a sector of 512 B, got 1 B"),
        ("vscsi-parallel", "peer:disk.queues", "1", "an NVMe drive is flash"),
        ("ipoib-sunway", "fabric.link_rate", "8001 Gbit/s", "1 Mbit/s to 8 Tbit/s"),
        ("memcached-100g", "memcached.connections", "5000", "some 10.7 GiB .* at most 1872, got 5"),
        ("memcached-100g", "memcached.hosts", "1024", "memcached.connections of at most 12, got"),
        ("stream-100g", "cpu.llc", "1 B", "expected 0 B or at least 352 B, a cache line in the"),
        ("relay-tuned", "relay.connections", "1000000", "some 18.1 GiB of memory and 30 s before"),
    ],
)
def test_what_no_builder_can_make_is_refused_where_it_is_set(
    scenario: str, setting: str, value: str, message: str
) -> None:
    with pytest.raises(InputError, match=message) as refused:
        simnet.run(scenario, settings={setting: value}, duration="1 us", warm_up="0 s")
    assert refused.value.typed.startswith(f"--set: {setting}: ")


@pytest.mark.parametrize(
    ("scenario", "settings"),
    [
        ("x460-bonding-pair", {"short_flows": "1"}),
        ("x460-bonding", {"short_flows": "2"}),
        ("relay-tuned", {"relay.connections": "40", "nic.tx_queues": "63"}),
        ("nvme-local", {"drive.program_unit": "512 B"}),
        ("ipoib-sunway", {"fabric.link_rate": "8 Tbit/s"}),
    ],
)
def test_what_goes_together_runs(scenario: str, settings: dict[str, str]) -> None:
    simnet.run(scenario, settings=settings, duration="1 ms", warm_up="0 s")


def test_flow_tables_are_those_of_all_queues() -> None:
    entries = {"/sys/class/net/eth0/queues/rx-*/rps_flow_cnt": "4096"}
    queues = {"ethtool -L eth0 combined": "8"}
    tree = _assembled("web-25g", entries | queues, (), {}, ())[1].tree
    (found,) = (
        need
        for subject in subjects()
        for need in subject.needs(tree)
        if need.noun == "entries of flow tables"
    )
    assert (found.value, found.count) == (4096, 8 * 4096)


def test_units_in_flight_are_those_of_all_processes() -> None:
    settings = {"fio.mixed.numjobs": "1024", "fio.mixed.iodepth": "65536"}
    with pytest.raises(InputError, match=r"67108864 units in flight .* at most 22\d{3}, got 65536"):
        simnet.run("nvme-local", settings=settings, duration="1 us", warm_up="0 s")


@pytest.mark.parametrize("scenario", scenario_names())
def test_every_scenario_takes_a_tenth_of_the_memory_that_is_refused(scenario: str) -> None:
    tree = _assembled(scenario, {}, (), {}, ())[1].tree
    needs = [need for subject in subjects() for need in subject.needs(tree)]
    assert sum(need.count * need.each_bytes for need in needs) < MOST_BYTES / 10


def _sections(above: type[Section] = Section) -> Iterator[type[Section]]:
    for section in above.__subclasses__():
        yield section
        yield from _sections(section)


def _quantities() -> Iterator[tuple[str, Quantity]]:
    for subject in subjects():
        subject.drivers()
    for section in _sections():
        for attribute in section.model_fields:
            spec = spec_of(section, attribute)
            if isinstance(spec, Quantity):
                yield attribute, spec


def test_at_no_legal_rate_does_anything_take_no_time() -> None:
    for attribute, spec in _quantities():
        high = spec.bounds[1]
        if spec.kind == "rate":
            bits = _LINE_BITS if attribute.endswith("bandwidth_bps") else 8
            assert bits * 10**12 // high >= 1, attribute
        elif spec.kind == "frequency":
            assert 10**12 // high >= 1, attribute
