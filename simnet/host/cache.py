"""Caches as data pass through them: what waits longer than their ways hold is lost.

A device's write allocates lines in a few ways of the last-level cache of its node (Intel DDIO: 2 of
11 ways by default). What arrives later takes the place of what came before. A line is at the mercy
of those that were written after it: it is lost when as many of them as there are ways have come to
its set. Which set a line is in is as good as chance, so the number is Poisson distributed, and

    lost = P(N >= ways), N of mean ways * waiting / share

where `waiting` are the bytes between the device and the copy to the user: in backlogs and receive
queues of all sockets of the node. A lost line is fetched from memory again when it is copied. No
line is an event: each copy asks for the share.

A core's private cache loses the lines of a send queue in the same way: the pages that were freed
last are the next to be written, and meanwhile all that is queued has been.

Source: Intel, Data Direct I/O Technology Overview (2012): writes allocate, limited to a part of the
cache.
"""

from __future__ import annotations

import math
from array import array
from typing import Final

import cython

from simnet.kernel.compiled import Array, Public

# the curve, in steps of a share; beyond its end all is lost
_STEPS: Final = 64
_SHARES: Final = 8
_ALL: cython.longlong = 1000


@cython.final
@cython.cclass
class CacheWays:
    """The ways of a last-level cache that devices write into, or all of a core's private one.

    Args:
        share_bytes: what they hold.
        ways: how many they are.
        miss_ps: how much longer a line takes from the next level than from the cache.
        steps: of what they hold, by which the share of lost lines is known.
    """

    share_bytes: cython.longlong = 0
    steps: cython.longlong = 0
    miss_ps: cython.longlong = 0
    waiting: Public[cython.longlong] = 0  # bytes that have been written and that nobody has copied
    lost: Array[cython.longlong] = None

    def __init__(self, share_bytes: int, ways: int, miss_ps: int, steps: int = _STEPS) -> None:
        self.share_bytes = share_bytes
        self.steps = steps
        self.miss_ps = miss_ps
        self.lost = array(
            "q", [_lost_permille(ways * step / steps, ways) for step in range(_SHARES * steps + 1)]
        )

    def lost_permille(self) -> cython.longlong:
        """Share of the lines that a copy finds lost now, in 1/1000."""
        step: cython.longlong = self.waiting * self.steps // self.share_bytes
        if step >= len(self.lost):
            return _ALL
        lost: cython.longlong = self.lost[step]
        return lost


def _lost_permille(mean: float, ways: int) -> int:
    """P(N >= ways), N Poisson distributed: as many lines have come to the set since."""
    term = math.exp(-mean)
    kept = 0.0
    for number in range(ways):
        kept += term
        term *= mean / (number + 1)
    return round(1000 * (1.0 - kept))
