"""Kinds of quantities: what is predicted about equally well, and on which scale it is compared.

How far a prediction is off is the logarithm of a factor. Of shares, which may be nothing, and of
gains it is that of the number plus an offset. A share of 6 percent instead of 0 counts as one of 76
instead of 70 does: 100 points more make both comparable. A gain of 8 % is a factor of 1.08. What a
disk does under several loads is a kind of its own: it depends on more than what a host's CPUs do.

A port has some interrupts that traffic does not explain: events of its firmware, the moments
before and after a load. Where a model says none, some tens a second are no large mistake: rates of
interrupts, and of packets that are dropped, are compared with 100/s more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

_POINTS: Final = 100.0
_BACKGROUND_PER_S: Final = 100.0
_STORAGE: Final = "storage "
_CPU_TIME: Final = frozenset({"CPU share", "share"})
# nothing where something is expected counts as a factor of this
_LEAST: Final = 1e-3
KINDS: Final[Mapping[str, float]] = {
    "throughput": 0.0,
    "ratio": 0.0,
    "imbalance": 0.0,
    "latency": 0.0,
    "real time": 0.0,
    "rate of interrupts": _BACKGROUND_PER_S,
    "rate of polls": 0.0,
    "rate of drops": _BACKGROUND_PER_S,
    "CPU share": _POINTS,
    "share": _POINTS,
    "storage throughput": 0.0,
    "storage latency": 0.0,
    "storage queue": 0.0,
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


def error(value: float, measured: float, kind: str) -> float | None:
    """How far `value` is from what was measured, as a share of that; None where that is nothing.

    Of a gain, which may be nothing, it is the difference.
    """
    if kind == "gain":
        return value - measured
    return value / measured - 1 if measured else None


def alike(kind: str, other: str) -> bool:
    """Whether what is known of one kind says something about another, for want of its own."""
    return kind.startswith(_STORAGE) == other.startswith(_STORAGE)


def family(kind: str) -> str:
    """What a kind's changes are like: those of CPU time, of storage, or of all else."""
    if kind.startswith(_STORAGE):
        return "storage"
    return "CPU time" if kind in _CPU_TIME else "all else"
