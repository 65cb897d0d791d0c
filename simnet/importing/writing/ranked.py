"""The notes of an import by what they decide: the load, what is left out, what is assumed.

Who makes a note says what it is about; what an answer turns on most stands first.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum


class Rank(IntEnum):
    """What a note is about, the heaviest first."""

    NOT_SIMULATED = 0
    """What the host does is not what is simulated."""
    LOAD = 1
    """Which load is simulated."""
    MACHINE = 2
    """How large the host is taken to be."""
    PORTS = 3
    """Which ports there are, how fast, with how many queues."""
    RULES = 4
    """By whose rules a part works."""
    OTHER = 5
    """What was read and is not used, and all else."""
    PEER = 6
    """The machine at the other end: said of each import."""
    COSTS = 7
    """Whose costs there are: said of each import."""
    KERNEL = 8
    """Whose constants there are: said of each import."""


@dataclass(frozen=True)
class Note:
    """A line for people."""

    text: str  # of it
    rank: Rank = Rank.OTHER  # what it is about


def ranked(notes: Iterable[Note]) -> tuple[str, ...]:
    """Return the notes, those that decide most first; equal ones as they came."""
    return tuple(one.text for one in sorted(notes, key=lambda one: one.rank))
