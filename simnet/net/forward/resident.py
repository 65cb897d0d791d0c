"""Which cache lines of tables are found in a cache that is too small for them all.

The lines of a table are used at random, each as often as any other of the same kind. A cache that
drops what was used longest ago keeps a line for some time T, the same for all, and finds it if it
is used again before: with probability 1 - exp(-T u), u its rate of use. T is such that what is kept
just fills the cache. Source: H. Che, Y. Tung, Z. Wang, Hierarchical Web Caching Systems, IEEE JSAC
20 (2002); the approximation is within a percent for caches of some hundred lines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_HALVINGS: Final = 200


@dataclass(frozen=True)
class Lines:
    """Lines of one kind."""

    count: float  # how many there are
    used: float  # how many of them one packet uses


def missed(kinds: Sequence[Lines], capacity: int) -> float:
    """How many lines of those that a packet uses a cache of `capacity` lines does not have."""
    kinds = [kind for kind in kinds if kind.count > 0 and kind.used > 0]
    if sum(kind.count for kind in kinds) <= capacity:
        return 0.0
    low, high = 0.0, 1.0
    while _kept(kinds, high) < capacity:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _kept(kinds, middle) < capacity:
            low = middle
        else:
            high = middle
    return sum(kind.used * math.exp(-high * kind.used / kind.count) for kind in kinds)


def _kept(kinds: Sequence[Lines], packets: float) -> float:
    """Lines that are kept if each is kept for so many packets since its last use."""
    return sum(kind.count * -math.expm1(-packets * kind.used / kind.count) for kind in kinds)


def found(kinds: Sequence[Lines], private: int, shared: int) -> tuple[float, float]:
    """Lines of a packet that come from the last-level cache, and from memory.

    Args:
        kinds: what packets use.
        private: lines that the last private cache of a core has for it.
        shared: lines that the last-level cache has for it.
    """
    beyond_private = missed(kinds, private)
    from_memory = min(missed(kinds, shared), beyond_private)
    return beyond_private - from_memory, from_memory
