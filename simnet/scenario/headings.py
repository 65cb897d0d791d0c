"""What scenarios and models call themselves: their headings, without what their values mean.

A list of all of them reads some sixty files. Checking every value would take a second, and the
parts that know the values most of it; whoever uses a file checks it then.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from simnet._share import folder
from simnet.files import read_text

_DESCRIPTION: Final = "description"


@dataclass(frozen=True)
class TuningHeading:
    """A named tuning of a scenario: the knobs that it turns, by name, with their values."""

    name: str
    description: str
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class ScenarioHeading:
    """A scenario that comes with simnet."""

    name: str
    description: str
    tunings: tuple[TuningHeading, ...]


@dataclass(frozen=True)
class ModelHeading:
    """A model that comes with simnet."""

    kind: str
    name: str
    description: str


def scenario_headings() -> tuple[ScenarioHeading, ...]:
    """The scenarios, by name."""
    return tuple(
        ScenarioHeading(name, table[_DESCRIPTION], tuple(_tunings(table.get("tunings", {}))))
        for name, table in _tables("scenarios", "*.toml")
    )


def model_headings() -> tuple[ModelHeading, ...]:
    """The models, by kind and name."""
    found = [
        ModelHeading(table["kind"], name, table[_DESCRIPTION])
        for name, table in _tables("models", "*/*.toml")
    ]
    return tuple(sorted(found, key=lambda one: (one.kind, one.name)))


def _tables(
    where: Literal["models", "scenarios"], pattern: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(folder(where).glob(pattern), key=lambda path: path.stem):
        yield path.stem, tomllib.loads(read_text(path, kind="file"))


def _tunings(tables: Mapping[str, Mapping[str, Any]]) -> Iterator[TuningHeading]:
    for name, table in tables.items():
        settings = {
            knob: value["value"] if isinstance(value, dict) else value
            for knob, value in table.items()
            if knob != _DESCRIPTION
        }
        yield TuningHeading(name, table[_DESCRIPTION], settings)
