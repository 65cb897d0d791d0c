"""What can be lifted: sorts of parts that are tried larger or quicker, each alone.

Rates grow by 25 %, times shrink by 20 %, buffers and numbers of requests double. Each subject
announces its own share; those of one name are lifted together.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from simnet.scenario.core.subject import subjects

if TYPE_CHECKING:
    from collections.abc import Callable

    from simnet.scenario.core.effective import Effective, Host

_BY: Final = (5, 4)


@dataclass(frozen=True)
class Lifting:
    """One sort of part, or a subject's share of it."""

    part: str  # its name
    # returns a configuration in which it is lifted; the same where there is none
    change: Callable[[Effective], Effective]
    by: str = ""  # what is changed, and how much; where it is said with another share, empty
    kinds: tuple[str, ...] = ()  # of resources that it lifts
    # limits on what may be outstanding that it lifts, by a wait's reason
    reasons: tuple[str, ...] = ()
    order: int = 1000  # where it stands among all


@functools.cache
def liftings() -> tuple[Lifting, ...]:
    """Return all of them, those of one name together."""
    found = [one for subject in subjects() for one in subject.lifts()]
    first: dict[str, int] = {}
    for one in found:
        first[one.part] = min(one.order, first.get(one.part, one.order))
    return tuple(sorted(found, key=lambda one: (first[one.part], one.part, one.order)))


def up(value: int) -> int:
    """A quarter more."""
    return value * _BY[0] // _BY[1]


def down(value: int) -> int:
    """A fifth less."""
    return value * _BY[1] // _BY[0]


def twice(value: int) -> int:
    """The double."""
    return 2 * value


def copy(section: Any, change: Callable[[int], int], *attributes: str) -> Any:
    """Return a section with changed attributes; None for None."""
    if section is None:
        return None
    return section.model_copy(update={one: change(getattr(section, one)) for one in attributes})


def changed(
    effective: Effective, place: str, change: Callable[[int], int], *attributes: str
) -> Effective:
    """Change attributes of a part, where it is there."""
    return effective.model_copy(
        update={place: copy(getattr(effective, place), change, *attributes)}
    )


def hosts(
    effective: Effective, change: Callable[[Host], Host], *, system: bool = True, peers: bool = True
) -> Effective:
    """Change the system, its peers, or both."""
    far = tuple(change(peer) for peer in effective.peers) if peers else effective.peers
    host = change(effective.host) if system else effective.host
    return effective.model_copy(update={"host": host, "peers": far})
