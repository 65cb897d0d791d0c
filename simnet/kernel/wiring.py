"""Whether all that a component refers to is there, asked once before the first event.

Compiled code does not look whether a reference is None before it follows it. A class says which
of its references others have to set: ``needs`` lists them as names, dotted where they are of what
it refers to, with ``|`` between such as stand for each other. Where an object does not have the
last of them at all (a port without ``path_out``) it needs none.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from simnet.errors import SimulationError
from simnet.kernel.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from simnet.kernel.simulator import Simulator

_NOT_HAD: Final = object()
_Way: TypeAlias = "tuple[Callable[[Any], Any], list[str]]"


def check_wiring(sim: Simulator) -> None:
    """Look at all components, and at what they need that is none.

    Raises:
        SimulationError: a reference is empty; it names component and field.
    """
    parts: dict[str, list[Any]] = {}
    for owners, need, found in _looked_at(sim.components.values()):
        if None in found:
            one = owners[found.index(None)]
            raise _refusal(one, need, one.path)
        kinds = set(map(type, found))
        if any(_ways(cast("Any", kind)) for kind in kinds if not issubclass(kind, Target)):
            parts.setdefault(need, []).extend(zip(owners, found, strict=True))
    for way, pairs in parts.items():
        for owners, need, found in _looked_at(part for _, part in pairs):
            if None in found:
                owner = owners[found.index(None)]
                path = next(f"{one.path}.{way}" for one, part in pairs if part is owner)
                raise _refusal(owner, need, path)


def _looked_at(owners: Iterable[Any]) -> Iterator[tuple[list[Any], str, list[Any]]]:
    """Yield each need with the objects of a class that have it, and what fulfils it of each.

    That is None where nothing does. There are ten thousand connections: none has a step of its own.
    """
    of_class: defaultdict[Any, list[Any]] = defaultdict(list)
    for owner in owners:
        of_class[type(owner)].append(owner)
    for cls, alike in of_class.items():
        for need, ways in _ways(cls):
            yield alike, need, _found(alike, ways)


def _found(owners: list[Any], ways: Sequence[_Way]) -> list[Any]:
    """Return what fulfils a need of objects of one class, None where nothing does.

    That is what the first way leads to that leads to something.
    """
    (follow, names), *others = ways
    try:
        found = list(map(follow, owners))
    except AttributeError:  # something before the last name is none, or not had
        found = [_follow(owner, names) for owner in owners]
    if others and (None in found or _NOT_HAD in found):
        left = [place for place, one in enumerate(found) if one is None or one is _NOT_HAD]
        for place, one in zip(left, _found([owners[n] for n in left], others), strict=True):
            found[place] = one
    return found


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
