"""From times in an environment's unit to picoseconds.

The clock counts whole picoseconds, so sums of delays are exact and order never depends on
rounding. Programs written for SimPy often use fractions. An environment therefore has a unit. In
the default unit, one picosecond, a fraction is refused: it is a mistake. In a larger unit, whole
numbers of units convert exactly, and anything else to the nearest picosecond, half to even; the
one who chose the unit chose that resolution, and delays drawn at random or computed as
differences of times could not be used otherwise. What would round to no time at all is refused.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from simnet.kernel.sentinel import LATEST_PS


def to_ps(time: Any, unit_ps: int) -> int:
    """Return a time of `unit_ps` ps each in ps; ValueError if the clock cannot show it."""
    if time < 0:
        message = f"Negative delay {time}: time would run backwards"
        raise ValueError(message)
    try:
        time_ps = operator.index(time) * unit_ps
    except TypeError:
        time_ps = _nearest_ps(time, unit_ps)
    if time_ps > LATEST_PS:
        message = f"{time} is beyond the clock's end, {LATEST_PS} ps"
        raise ValueError(message)
    return time_ps


def _nearest_ps(time: Any, unit_ps: int) -> int:
    product = float(time) * unit_ps
    if not math.isfinite(product):
        message = f"{time} is not a time"
        raise ValueError(message)
    nearest = round(product)
    if nearest == product:
        return nearest
    if unit_ps == 1:
        message = (
            f"{time} is not a whole number of ps; for times in a larger unit make the"
            " environment with unit_ps"
        )
        raise ValueError(message)
    if nearest == 0:
        message = f"{time} is shorter than the clock resolves, 1 ps"
        raise ValueError(message)
    return nearest
