"""Histogram of integers from 0 to 2**63 - 1 in constant space, exact to one part in 128.

The buckets are those of HdrHistogram (Tene): as wide as 1 up to 255, and from there on 128 for
each power of two. Adding is a few integer operations, and merging is exact. A bucket counts to
2**32 - 1, which no run comes near: many connections have a histogram each, and what of them is
touched should fit into a cache.
"""

from __future__ import annotations

import math
from array import array

import cython

from simnet.kernel.compiled import Array
from simnet.kernel.queue import highest_bit

FINE_BITS: cython.int = 7
FINE: cython.int = 1 << FINE_BITS
BUCKETS: cython.int = (63 - FINE_BITS + 1) * FINE


@cython.final
@cython.cclass
class LogHistogram:
    """Counts of values, such as latencies in ps."""

    count: cython.longlong = 0  # number of values added
    largest: cython.longlong = 0  # the largest value added, 0 if there is none
    _counts: Array[cython.uint] = None

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all values."""
        self.count = 0
        self.largest = 0
        self._counts = array("I", [0]) * BUCKETS

    def add(self, value: cython.longlong) -> cython.int:
        """Count one value; ValueError if it is negative."""
        shift: cython.int = 0
        if value < 0:
            message = f"{value} is negative"
            raise ValueError(message)
        if value >= 2 * FINE:
            shift = highest_bit(value) - FINE_BITS
        self._counts[shift * FINE + (value >> shift)] += 1
        self.count += 1
        self.largest = max(self.largest, value)
        return 0

    def merge(self, other: LogHistogram) -> None:
        """Add all values of another histogram."""
        index: cython.int
        for index in range(BUCKETS):
            self._counts[index] += other._counts[index]
        self.count += other.count
        self.largest = max(self.largest, other.largest)

    def quantile(self, fraction: float) -> int:
        """Return a bound of the smallest values that make up `fraction` of all.

        It is at most 1/128 above the value of that rank. ValueError without values, or if
        `fraction` is not from 0 to 1.
        """
        index: cython.int
        rank: cython.longlong
        if self.count == 0 or not 0 <= fraction <= 1:
            message = f"there is no quantile {fraction} of {self.count} values"
            raise ValueError(message)
        # A product like 0.07 * 100 is a little too large, and must not reach the next rank.
        rank = max(1, math.ceil(fraction * self.count * (1 - 1e-12)))
        for index in range(BUCKETS):
            rank -= self._counts[index]
            if rank <= 0:
                return min(_upper(index), self.largest)
        return self.largest

    def buckets(self) -> tuple[tuple[int, int], ...]:
        """Return the largest value and the count of each bucket that is not empty, ascending."""
        index: cython.int
        left: cython.longlong = self.count
        found = []
        for index in range(BUCKETS):
            if left == 0:
                break
            if self._counts[index]:
                left -= self._counts[index]
                found.append((_upper(index), self._counts[index]))
        return tuple(found)


def _upper(index: int) -> int:
    """Return the largest value that belongs to a bucket."""
    if index < 2 * FINE:
        return index
    shift = index // FINE - 1
    return ((index - shift * FINE + 1) << shift) - 1
