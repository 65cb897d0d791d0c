"""A NIC's model has the values of its driver alone; a driver is one module that nothing lists."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from simnet.errors import InputError
from simnet.scenario.core import jsonschema as schemas
from simnet.scenario.core import library
from simnet.scenario.core.knobs import KNOBS
from simnet.scenario.core.load import load
from simnet.scenario.core.schema import spec_of
from simnet.scenario.core.specs import Quantity
from simnet.scenario.parts.nic.drivers import drivers
from simnet.scenario.parts.nic.schema import Nic
from simnet.scenario.scenarios import find_scenario

DRIVERS = Nic.variants()
E1000 = library.find_model("nic", "intel-82546").read_text("utf-8")
_DRIVER = """
from typing import Literal
from simnet.scenario.core.knob import ignored
from simnet.scenario.core.specs import Flag
from simnet.scenario.parts.nic.schema import Nic

class Loop(Nic):
    driver: Literal["loop"]

    @classmethod
    def knobs(cls):
        return (ignored("modprobe loop fast", "", Flag(""), "modprobe loop fast={value}"),)

DRIVER = Loop
"""
_LOOP = """
kind = "nic"
description = "a loop"
driver = "loop"
link_rate = {value = "1 Gbit/s", state = "assumed", source = "a guess"}
mtu = {value = "1500 B", state = "assumed", source = "a guess"}
napi_weight = {value = 64, state = "assumed", source = "a guess"}
descriptor = {value = "8 B", state = "assumed", source = "a guess"}
"""
_FOUND = """
import sys
from simnet.scenario.parts.nic import drivers
drivers.__path__.append(".")
from simnet.cli import main
sys.argv = ["simnet", "show", *{arguments}]
main()
"""
_LOADED = """
import sys
from simnet.scenario.core.load import load
load("x460-out-of-box")
print([name for name in sys.modules if name.startswith("simnet.net.nic.")])
"""


def refused(text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        library.parse_model("nic", text, "nic.toml")
    return caught.value


def test_a_module_has_the_name_of_its_driver() -> None:
    assert [one.__module__.rpartition(".")[2] for one in drivers()] == [
        one.name() for one in drivers()
    ]


def test_the_drivers_of_other_subjects_are_among_all() -> None:
    assert {"ib_ipoib", "ibmveth", "tg3"} <= DRIVERS.keys()


@pytest.mark.parametrize(
    ("before", "after", "key", "message"),
    [
        ('driver = "e1000"', 'driver = "e1001"', "driver",
         "unknown driver 'e1001'; did you mean e1000?"),
        ('driver = "e1000"', 'driver = "nonsense"', "driver",
         "unknown driver 'nonsense': expected one of " + ", ".join(DRIVERS)),
        ('driver = "e1000"', "driver = 7", "driver",
         "unknown driver '7': expected one of " + ", ".join(DRIVERS)),
        ('driver = "e1000"\n', "", "driver", "missing: expected one of " + ", ".join(DRIVERS)),
        ("tx_int_delay =", "tx_int_delays =", "tx_int_delays",
         "the driver e1000 has no such key; did you mean tx_int_delay?"),
        ("interrupt_throttle_rate =", "rx_usecs =", "rx_usecs",
         "the driver e1000 has no such key"),
        ("{value = 8000,", "{valu = 8000,", "interrupt_throttle_rate.valu",
         "unknown key; did you mean value?"),
    ],
)  # fmt: skip
def test_what_a_driver_does_not_have_is_refused_in_one_line(
    before: str, after: str, key: str, message: str
) -> None:
    assert E1000.count(before) == 1
    error = refused(E1000.replace(before, after))
    assert (error.file, error.key) == ("nic.toml", key)
    assert error.message == message


@pytest.mark.parametrize("name", library.model_names("nic"))
def test_editors_know_the_keys_of_each_driver(name: str) -> None:
    schema = schemas.schema("nic")
    whole = jsonschema.Draft202012Validator(schema)
    model = tomllib.loads(library.find_model("nic", name).read_text("utf-8"))
    whole.validate(model)
    forms = (whole.evolve(schema=form) for form in schema["oneOf"])
    (validator,) = (form for form in forms if form.is_valid(model))
    others = {key for driver in DRIVERS.values() for key in keys(driver)}
    for key in others - keys(DRIVERS[model["driver"]]):
        value = {"value": 1, "source": "a guess", "state": "assumed"}
        assert not validator.is_valid(model | {key: value}), key
    for key in model.keys() - {"kind", "driver", "description", "notes"}:
        assert not validator.is_valid(model | {key: 1}), key


def keys(driver: type[Nic]) -> set[str]:
    specs = {name: spec_of(driver, name) for name in driver.model_fields}
    return {spec.key(name) for name, spec in specs.items() if spec}


def test_a_value_has_the_same_range_in_all_drivers() -> None:
    found: dict[str, Any] = {}
    for driver in DRIVERS.values():
        for name in driver.model_fields:
            spec = spec_of(driver, name)
            legal = spec.bounds if isinstance(spec, Quantity) else type(spec)
            assert found.setdefault(name, legal) == legal, name


def test_each_knob_is_of_some_driver() -> None:
    for knob in KNOBS:
        fitting = [name for name, one in DRIVERS.items() if knob.fits(name, one.model_fields)]
        assert fitting, knob.name


@pytest.mark.parametrize(
    ("settings", "gap_ps"),
    [
        ({"peer:modprobe e1000 InterruptThrottleRate": "10000"}, 100 * 10**6),
        ({"peer:modprobe e1000 InterruptThrottleRate": "0"}, 0),
    ],
)
def test_a_throttle_keeps_a_time_between_interrupts(settings: dict[str, str], gap_ps: int) -> None:
    assert load("x460-out-of-box", settings=settings).peers[0].ports[0].nic.interrupt_gap_ps == (
        gap_ps
    )


@pytest.mark.parametrize(("rate", "gap_ps"), [(3, 50), (1, 50), (8000, 125), (0, 0)])
def test_a_throttle_that_adapts_starts_from_its_rate(rate: int, gap_ps: int) -> None:
    settings = {"peer:modprobe e1000e InterruptThrottleRate": str(rate)}
    peer = load("tcp-rr-one-queue", settings=settings).peers[0]
    assert peer.ports[0].nic.interrupt_gap_ps == gap_ps * 10**6


@pytest.mark.parametrize(
    ("scenario", "server", "nic", "other", "message"),
    [
        ("vlan-half-cpu", "ibm-p5-partitioned", "ibm-virtual-ethernet", "broadcom-bcm5704",
         "eth0 is on the hypervisor's LAN, its driver tg3 is not"),
        ("tcp-rr-one-queue", "eight-cpus-82574", "intel-82574", "ibm-virtual-ethernet",
         "eth0 is a port of a hypervisor's LAN: only in a partition"),
    ],
)  # fmt: skip
def test_ports_of_a_hypervisors_lan_are_those_of_partitions(
    scenario: str, server: str, nic: str, other: str, message: str, tmp_path: Path
) -> None:
    model = library.find_model("server", server).read_text("utf-8")
    text = find_scenario(scenario).read_text("utf-8")
    (tmp_path / "server.toml").write_text(model.replace(f'"{nic}"', f'"{other}"'), "utf-8")
    (tmp_path / "mine.toml").write_text(text.replace(f'"{server}"', '"server.toml"', 1), "utf-8")
    with pytest.raises(InputError) as caught:
        load(tmp_path / "mine.toml")
    assert (caught.value.key, caught.value.message) == ("system", message)


def test_no_mechanism_is_loaded_before_it_is_built() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOADED], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("arguments", "status", "printed"),
    [
        (["loop.toml"], 0, r"driver +loop\n[^#]*# values\n.*\nlink_rate "),
        (["x460-out-of-box", "--set", "modprobe loop fast=on"], 2,
         "the driver tg3 has no such knob; it belongs to loop\n"),
    ],
)  # fmt: skip
def test_a_driver_is_found_without_a_list(
    arguments: list[str], status: int, printed: str, tmp_path: Path
) -> None:
    (tmp_path / "loop.py").write_text(_DRIVER, encoding="utf-8")
    (tmp_path / "loop.toml").write_text(_LOOP, encoding="utf-8")
    script = _FOUND.format(arguments=arguments)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == status, done.stderr
    assert re.search(printed, done.stdout + done.stderr)
