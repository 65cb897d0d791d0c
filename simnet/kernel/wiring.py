"""Whether all that a component refers to is there, asked once before the first event.

Compiled code does not look whether a reference is None before it follows it. A class says which
of its references others have to set: ``needs`` lists them as names, dotted where they are of what
it refers to, with ``|`` between such as stand for each other. Where an object does not have the
last of them at all (a port without ``path_out``) it needs none.
"""

from __future__ import annotations

from functools import cache
from itertools import repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from simnet.errors import SimulationError
from simnet.kernel.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simnet.kernel.simulator import Simulator

_NOT_HAD: Final = object()
_Way: TypeAlias = "tuple[Callable[[Any], Any], list[str]]"


def check_wiring(sim: Simulator) -> None:
    """Look at all components, and at what they need that is none.

    Raises:
        SimulationError: a reference is empty; it names component and field.
    """
    parts: list[tuple[Any, Any, str]] = []
    for one, need, found in _looked_at(sim.components.values()):
        if found is None:
            raise _refusal(one, need, one.path)
        if not isinstance(found, Target) and _ways(cast("Any", type(found))):
            parts.append((found, one, need))
    for owner, need, found in _looked_at(part for part, _, _ in parts):
        if found is None:
            path = next(f"{one.path}.{way}" for part, one, way in parts if part is owner)
            raise _refusal(owner, need, path)


def _looked_at(owners: Iterable[Any]) -> Iterator[tuple[Any, str, Any]]:
    """Yield each need of objects, and what fulfils it; None where nothing does."""
    of_class: dict[Any, list[Any]] = {}
    for owner in owners:
        of_class.setdefault(type(owner), []).append(owner)
    for cls, alike in of_class.items():
        for need, ways in _ways(cls):
            yield from zip(alike, repeat(need), _found(alike, ways))


def _found(owners: list[Any], ways: tuple[_Way, ...]) -> list[Any]:
    """Return what fulfils a need of objects of one class, None where nothing does."""
    for follow, _ in ways:
        try:
            found = list(map(follow, owners))
        except AttributeError:  # something before the last name is none, or not had
            continue
        return [
            _fulfilled(owner, ways) if one is None else one
            for owner, one in zip(owners, found, strict=True)
        ]
    return [_fulfilled(owner, ways) for owner in owners]


def _fulfilled(owner: Any, ways: tuple[_Way, ...]) -> Any:
    """Return what the first way leads to that leads to something; None: no way does."""
    value: Any = None
    for _, names in ways:
        value = _follow(owner, names)
        if value is not None and value is not _NOT_HAD:
            break
    return value


def _follow(value: Any, names: list[str]) -> Any:
    for name in names:
        value = getattr(value, name, _NOT_HAD)
        if value is None or value is _NOT_HAD:
            break
    return value


def _refusal(owner: Any, need: str, path: str) -> SimulationError:
    message = f"{need} is empty: a {type(owner).__name__} works with what it refers to"
    return SimulationError(message, component=path)


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
