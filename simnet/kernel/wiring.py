"""Whether all that a component refers to is there, asked once before the first event.

Compiled code does not look whether a reference is None before it follows it. A class says which
of its references others have to set: ``needs`` lists them as names, dotted where they are of what
it refers to, with ``|`` between such as stand for each other. Where an object does not have the
last of them at all (a port without ``path_out``) it needs none.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from simnet.errors import SimulationError
from simnet.kernel.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable

    from simnet.kernel.simulator import Simulator

_NOT_HAD: Final = object()
_Way: TypeAlias = "tuple[Callable[[Any], Any], list[str]]"


def check_wiring(sim: Simulator) -> None:
    """Look at all components, and at what they need that is none.

    Raises:
        SimulationError: a reference is empty; it names component and field.
    """
    for path, component in sim.components.items():
        for need, found in _checked(component, path):
            if not isinstance(found, Target):
                _checked(found, f"{path}.{need}")


def _checked(owner: Any, path: str) -> list[tuple[str, Any]]:
    """Return what an object needs, by name."""
    found = []
    cls: Any = type(owner)
    for need, ways in _ways(cls):
        value: Any = None
        for way, names in ways:
            try:
                value = way(owner)
            except AttributeError:  # something before the last name is none, or not had
                value = _follow(owner, names)
            if value is not None and value is not _NOT_HAD:
                found.append((need, value))
                break
        if value is None:
            message = f"{need} is empty: a {cls.__name__} works with what it refers to"
            raise SimulationError(message, component=path)
    return found


def _follow(value: Any, names: list[str]) -> Any:
    for name in names:
        value = getattr(value, name, _NOT_HAD)
        if value is None or value is _NOT_HAD:
            break
    return value


def needs_of(cls: type) -> tuple[str, ...]:
    """Return what a class needs, its bases' needs included."""
    return tuple(need for one in reversed(cls.__mro__) for need in vars(one).get("needs", ()))


@cache
def _ways(cls: Any) -> tuple[tuple[str, tuple[_Way, ...]], ...]:
    """Return each need with the ways to what fulfils it."""
    return tuple(
        (need, tuple((attrgetter(way), way.split(".")) for way in need.split("|")))
        for need in needs_of(cls)
    )
