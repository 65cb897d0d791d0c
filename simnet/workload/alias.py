"""Choice by weight in constant time: Walker's alias method, as Vose builds its tables.

Source: M. D. Vose, "A linear algorithm for generating random numbers with a given distribution",
IEEE Transactions on Software Engineering 17(9), 1991. Weights are integers and so is all that is
computed from them: the choices are the same on every machine, and exact to one part in 2**64.
"""

# mypy: no-strict-optional, disable-error-code="no-any-return, redundant-expr"

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import lru_cache

import cython

from simnet.kernel.compiled import ConstArray
from simnet.kernel.prefetch import prefetch
from simnet.kernel.random import RandomStream

# the runs of a study have the same clients
_KEPT_TABLES = 16


@lru_cache(maxsize=_KEPT_TABLES)
def _tables(weights: tuple[int, ...]) -> tuple[array[int], array[int]]:
    """Of each position the threshold, below which it is chosen, and which is chosen else.

    They belong to all that choose by these weights: nobody writes to them.
    """
    total = sum(weights)
    thresholds = [0] * len(weights)
    others = list(range(len(weights)))
    # each position gets `total` in shares of `count`: what one lacks another gives
    shares = [weight * len(weights) for weight in weights]
    small = [at for at, share in enumerate(shares) if share < total]
    large = [at for at, share in enumerate(shares) if share >= total]
    while small and large:
        poor, rich = small.pop(), large[len(large) - 1]
        thresholds[poor] = (shares[poor] << 64) // total
        others[poor] = rich
        shares[rich] -= total - shares[poor]
        if shares[rich] < total:
            small.append(large.pop())
    return array("Q", thresholds), array("q", others)


@cython.final
@cython.cclass
class Alias:
    """Chooses positions in a list of weights.

    Args:
        weights: whole numbers from 0 on, not all 0; ValueError otherwise.
        stream: random numbers.
    """

    stream: RandomStream = None
    count: cython.longlong = 0
    position: cython.longlong = 0
    bits: cython.ulonglong = 0
    thresholds: ConstArray[cython.ulonglong] = None
    others: ConstArray[cython.longlong] = None

    def __init__(self, weights: Sequence[int], stream: RandomStream) -> None:
        if sum(weights) <= 0 or min(weights) < 0:
            raise ValueError(f"{stream.path}: weights must not be negative, nor all 0")
        self.stream = stream
        self.count = len(weights)
        self.thresholds, self.others = _tables(tuple(weights))
        self._draw()

    def _draw(self) -> cython.int:
        """Draw for the next choice, to have its place in the tables in the cache by then."""
        if self.count > 1:
            self.position = self.stream.below(self.count)
            self.bits = self.stream.raw()
            if cython.compiled:
                prefetch(cython.address(self.thresholds[self.position]), 8)
                prefetch(cython.address(self.others[self.position]), 8)
        return 0

    def pick(self) -> cython.longlong:
        """Position of one of the weights."""
        at: cython.longlong = self.position
        limit: cython.ulonglong = self.thresholds[at]
        if self.bits >= limit:
            at = self.others[at]
        self._draw()
        return at
