"""Kinds of quantities: what is predicted about equally well, and on which scale it is compared.

How far a prediction is off is a logarithm of a factor. Of shares and gains, which may be nothing,
it is the logarithm of the number plus an offset: 5 points of CPU time, say, which is what other
work of a machine takes; or one, as a gain of 8 % is a factor of 1.08.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

__all__ = ["KINDS", "factor", "log_factor"]

_POINTS: Final = 5.0
# nothing where something is expected counts as a factor of this
_LEAST: Final = 1e-3
KINDS: Final[Mapping[str, float]] = {
    "throughput": 0.0,
    "ratio": 0.0,
    "latency": 0.0,
    "real time": 0.0,
    "rate of interrupts": 0.0,
    "CPU share": _POINTS,
    "share": _POINTS,
    "amount": 0.0,
    "optimum": 0.0,
    "gain": 1.0,
}
"""The offsets of all kinds, by name."""


def log_factor(value: float, base: float, kind: str) -> float:
    """How far `value` is from `base`, as the logarithm of a factor; 0 where both are nothing."""
    above, below = (number + KINDS[kind] for number in (value, base))
    if below <= 0:
        return 0.0 if above <= 0 else -math.log(_LEAST)
    return math.log(max(above / below, _LEAST))


def factor(base: float, logarithm: float, kind: str) -> float:
    """The number that is so far from `base`: the inverse of `log_factor`."""
    offset = KINDS[kind]
    return (base + offset) * math.exp(logarithm) - offset
