"""The notes of an import by what they decide: the load, what is left out, what is assumed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ranked"]

# what an answer turns on, the heaviest first; a note of no kind stands before what is always so
_KINDS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"cannot be simulated|not simulated|as a port of a real host",
        r"^workload: ",
        (
            r"receive queues: a port of the model|CPUs are assumed|no network port was found"
            r"|the host below is assumed"
        ),
        r"no port says how fast|left out|queues are assumed|assumed to carry|are in the model",
        r"not modelled|no file says which driver|NUMA nodes are assumed",
    )
)
_ALWAYS: Final = (
    re.compile(r"^the peer is assumed|^the peer is "),
    re.compile(r"^the processor's costs"),
    re.compile(r"^Linux .*: rules and constants of"),
)


def ranked(notes: Iterable[str]) -> tuple[str, ...]:
    """Return the notes, those that decide most first; equal ones as they came."""
    return tuple(sorted(notes, key=_rank))


def _rank(note: str) -> int:
    for rank, pattern in enumerate(_KINDS):
        if pattern.search(note):
            return rank
    for rank, pattern in enumerate(_ALWAYS, len(_KINDS) + 1):
        if pattern.search(note):
            return rank
    return len(_KINDS)
