"""Quantiles of Student's distribution for whole degrees of freedom.

The distribution function is a finite sum then, and its inverse is found by bisection: a few
lines, where `scipy.special` takes a third of a second to load. Source: Abramowitz and Stegun,
Handbook of Mathematical Functions (1964), 26.7.3 and 26.7.4.
"""

from __future__ import annotations

import math
from functools import lru_cache

__all__ = ["student_quantile"]


@lru_cache(maxsize=1024)
def student_quantile(freedom: int, probability: float) -> float:
    """The number that Student's variable is below with a probability from 0.5 to less than 1.

    Raises:
        ValueError: `freedom` is not 1 or more, or the probability is another.
    """
    if freedom < 1 or not 0.5 <= probability < 1:  # noqa: PLR2004 (the upper half)
        message = f"no quantile of {probability} with {freedom} degrees of freedom"
        raise ValueError(message)
    # of the angle whose tangent is t / sqrt(freedom): it has both ends
    within = 2 * probability - 1
    low, high = 0.0, math.pi / 2
    while low < (middle := (low + high) / 2) < high:
        if _within(freedom, middle) < within:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan(low)


def _within(freedom: int, angle: float) -> float:
    """The probability that the variable is not farther from 0 than at this angle."""
    square = math.cos(angle) ** 2
    term = math.cos(angle) if freedom % 2 else 1.0
    total = 0.0
    for number in range(1 + freedom % 2, freedom, 2):
        total += term
        term *= square * number / (number + 1)
    total *= math.sin(angle)
    return (angle + total) * 2 / math.pi if freedom % 2 else total
