"""What can be set in a scenario, and values for it that are odd but legal."""

from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Final

from simnet.scenario.core import load
from simnet.scenario.core.knob import CpuMask, Knob, ModelName, NodeNumber
from simnet.scenario.core.library import model_names, read_scenario
from simnet.scenario.core.parameter import Spec
from simnet.scenario.core.schema import ModelKind
from simnet.scenario.core.specs import Choice, Edges, Flag, HashKey, PortName, Quantity
from simnet.scenario.core.tree import Entry, Path, Tree
from simnet.scenario.core.units import format_quantity
from simnet.scenario.parts.nic.flow_steering import RuleList
from simnet.scenario.scenarios import find_scenario, scenario_names

SMALL: Final = {
    "relay-tuned": {"relay.connections": "20", "relay.workers": "2"},
    "relay-untuned": {"relay.connections": "20", "relay.workers": "2"},
    "tcp-rr-one-queue": {"connections": "10"},
}
"""What makes a scenario small enough for thousands of runs; a drawn value comes on top."""

_MOST: Final = {"connections": 300, "nodes": 64, "relay.connections": 2000}
"""Where more is only more of the same, and takes its time."""


_ILLEGAL: Final = 0.02
_NO_VALUES: Final = ("", "-1", "nan", "1e400", "0x", "9" * 30, "on", "1;2", "\u0663", "=", "none")
_MASKS: Final = (1, 2, 3, 0xFF, 0xFFFF, 0x8000)
_VALUES: Final[dict[type, tuple[str, ...]]] = {
    Flag: ("on", "off"),
    NodeNumber: ("nic", "any", "0", "1", "3", "7", "63"),
    PortName: ("none", "eth0", "eth1", "eth7", "ib0", "ent3"),
    HashKey: ("microsoft", ":".join(["00"] * 40), ":".join(["ff"] * 40)),
    RuleList: (
        "none",
        "flow-type tcp4 src-ip 10.0.0.2 action 1",
        "flow-type tcp4 dst-port 32768 action 0; flow-type tcp4 dst-port 12865 action 62",
    ),
    Edges: ("0-1", "0-1 1-2 2-3", "0-7"),
}
_WORDS: Final = ("0", "1", "on", "off", "yes", "no", "settled", "daemon", "ff", "2M", "64", "max")


@dataclass(frozen=True)
class Setting:
    """A name as typed after ``--set``, and what it takes."""

    name: str
    spec: Spec | None


@cache
def scenarios() -> tuple[str, ...]:
    """Return the names of the scenarios that come with simnet."""
    return scenario_names()


@cache
def tunings_of(scenario: str) -> tuple[str, ...]:
    """Return the names of a scenario's tunings."""
    return tuple(read_scenario(find_scenario(scenario))[0].tunings)


@cache
def settings_of(scenario: str) -> tuple[Setting, ...]:
    """Return what can be set, ordered by name, without what another system or driver has."""
    table = load._assembled(scenario, {}, (), {}, ())[1]
    hosts = {prefix: table.places.hosts(peers=bool(prefix)) for prefix in ("", "peer:")}
    found = []
    for name in sorted(set(table.legal_names())):
        target = table._target(Entry(name, "", "--set"))
        knob = target.knob
        places = hosts["peer:" if name.startswith("peer:") else ""]
        if knob is None or any(_has(table.tree, host, knob) for host in places):
            found.append(Setting(name, knob.spec if knob else target.spec))
    return tuple(found)


def _has(tree: Tree, host: Path, knob: Knob) -> bool:
    if knob.system != tree.get((*host, "kernel", "system")):
        return False
    nics = [port["nic"] for port in tree.get((*host, "ports"))]
    of_nic = knob.drivers or knob.scope == "nic"
    return not of_nic or any(knob.fits(nic["driver"], nic) for nic in nics)


def odd_value(random: Random, setting: Setting) -> str:
    """Return a value as typed: mostly legal, and mostly one that nobody chooses."""
    if random.random() < _ILLEGAL:
        return random.choice(_NO_VALUES)
    if isinstance(setting.spec, Quantity):
        numbers = (_number(random, setting.spec, setting) for _ in range(setting.spec.length or 1))
        return " ".join(numbers)
    if isinstance(setting.spec, Choice):
        return random.choice(setting.spec.choices)
    if isinstance(setting.spec, ModelName):
        kind: ModelKind = "kernel" if setting.name.endswith("kernel") else "server"
        return random.choice(model_names(kind))
    if isinstance(setting.spec, CpuMask):
        return f"{random.choice((*_MASKS, 1 << random.randrange(40), random.getrandbits(16))):x}"
    return random.choice(_VALUES.get(type(setting.spec), _WORDS))


def edges_of(setting: Setting) -> tuple[str, ...]:
    """Return the least and the largest value of a setting, as typed; none if it has no bounds."""
    if not isinstance(setting.spec, Quantity):
        return ()
    low, high = setting.spec.bounds
    return tuple(
        " ".join([_typed(value, setting.spec)] * (setting.spec.length or 1))
        for value in dict.fromkeys((low, low + 1, high))
        if low <= value <= high
    )


def _number(random: Random, spec: Quantity, setting: Setting) -> str:
    low, high = spec.bounds
    high = min(high, _MOST.get(setting.name, high))
    few = [
        value
        for value in (0, 1, 2, 3, low + 1, high - 1, (low + high) // 2)
        if low <= value <= high
    ]
    spread = max(low, min(high, round(2 ** random.uniform(0, max(high, 1).bit_length()))))
    value = random.choice(
        (low, high, random.choice(few or [low]), random.randint(low, high), spread, spread)
    )
    return _typed(value, spec)


def _typed(value: int, spec: Quantity) -> str:
    return format_quantity(value, spec.quantity_kind).replace(" ", "" if spec.length else " ")
