"""Other values for the parameters of an effective configuration.

A parameter of a model has one value wherever the model is used: all ports of one NIC model, all
CPUs of one processor. So it is named by model, as in `xeon-7040.costs.hardirq_cycles`; the dotted
path of any place where the model is used (`host.cpu.costs.hardirq_cycles`) means the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simnet.errors import InputError
from simnet.scenario.core.parameter import State
from simnet.scenario.core.schema import spec_of
from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Quantity
from simnet.scenario.core.units import UnitError
from simnet.spelling import nearest

if TYPE_CHECKING:
    from simnet.scenario.core.effective import Effective

_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_UNCERTAIN: tuple[State, ...] = ("assumed", "calibrated")


@dataclass(frozen=True)
class Varied:
    """A parameter that can vary: integers in base units; `paths` are the places that share it.

    `fits`: it and others fit each other or do not.
    """

    name: str
    paths: tuple[str, ...]
    value: int
    low: int
    high: int
    state: State
    fits: bool


def ranged(effective: Effective, states: Sequence[State] = _UNCERTAIN) -> list[Varied]:
    """Parameters with a range whose state is one of `states`, in order of their names."""
    found = []
    for name, paths in sorted(_places(effective).items()):
        parameter = effective.provenance[paths[0]]
        low, high, value = parameter.low, parameter.high, parameter.value
        if low is None or high is None or low >= high or not isinstance(value, int):
            continue
        if parameter.state in states:
            fits = _fits(effective, paths[0])
            found.append(Varied(name, paths, value, low, high, parameter.state, fits))
    return found


def _fits(effective: Effective, path: str) -> bool:
    """Whether the spec of the parameter at a path says that it has to fit others."""
    *above, last = [int(n) if n else part for n, part in _PART.findall(path)]
    section: Any = effective
    for part in above:
        section = section[part] if isinstance(part, int) else getattr(section, part)
    spec = spec_of(type(section), str(last))
    return isinstance(spec, Quantity) and spec.fits


def uncertain_parameters(effective: Effective) -> set[str]:
    """Names of parameters whose value is assumed and not set by the user, with a range or not."""
    return {
        name
        for name, paths in _places(effective).items()
        if effective.provenance[paths[0]].state in _UNCERTAIN
    }


def with_values(effective: Effective, values: Mapping[str, int]) -> Effective:
    """The configuration with other values for some parameters, in base units.

    Raises InputError for a parameter that does not exist (naming the nearest) and for a value
    outside its legal range.
    """
    if not values:
        return effective
    places = _places(effective)
    changes: dict[str | int, Any] = {}
    for name, value in values.items():
        for path in places[name if name in places else canonical_name(effective, name)]:
            *above, last = [int(n) if n else part for n, part in _PART.findall(path)]
            level = changes
            for part in above:
                level = level.setdefault(part, {})
            level[last] = _Change(value, path)
    varied: Effective = _put(effective, changes)
    return varied


def canonical_name(effective: Effective, name: str) -> str:
    """The name by model of a parameter that is given by model or by dotted path.

    Raises InputError that names the nearest.
    """
    places = _places(effective)
    if name in places:
        return name
    for canonical, paths in places.items():
        if name in paths or f"host.{name}" in paths:
            return canonical
    known = [*places, *effective.provenance]
    raise InputError(f"expected a parameter{nearest(name, known)}", key=name)


def _places(effective: Effective) -> dict[str, tuple[str, ...]]:
    """Dotted paths of every parameter by its name.

    A place that the scenario or the command line set to something else has left its model (it has
    no range any more): it keeps its value while the model's varies.
    """
    places: dict[str, tuple[str, ...]] = {}
    for path in effective.provenance:
        name = _by_model(effective, path)
        places[name] = (*places.get(name, ()), path)
    return {
        name: tuple(path for path in paths if effective.provenance[path].low is not None) or paths
        for name, paths in places.items()
    }


def _by_model(effective: Effective, path: str) -> str:
    owner = path
    while "." in owner:
        owner = owner.rpartition(".")[0]
        if owner in effective.models:
            return effective.models[owner] + path.removeprefix(owner)
    return path


@dataclass(frozen=True)
class _Change:
    """Another value for the parameter at a path."""

    value: int
    path: str


def _put(section: Any, changes: Mapping[Any, Any]) -> Any:
    """A copy of a section, or of a tuple of sections, with what the nested changes say."""
    if isinstance(section, tuple):
        return tuple(
            _put(item, changes[place]) if place in changes else item
            for place, item in enumerate(section)
        )
    update = {}
    for name, change in changes.items():
        if isinstance(change, _Change):
            _check(section, name, change.value, change.path)
            update[name] = change.value
        else:
            update[name] = _put(getattr(section, name), change)
    return section.model_copy(update=update)


def _check(section: Section, attribute: str, value: int, path: str) -> None:
    spec = spec_of(type(section), attribute)
    if spec is None or isinstance(getattr(section, attribute), (str, bool, tuple)):
        raise InputError("expected a parameter with one number", key=path)
    try:
        spec.check(value)
    except UnitError as error:
        raise InputError(str(error), key=path) from error
