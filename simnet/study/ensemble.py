"""What is not known about a prediction: an ensemble over the ranges of uncertain parameters.

Every member draws all parameters that have a range and are not known for certain (assumed, or
calibrated with an interval) from a Latin hypercube, uniformly, and its own seed for the random
numbers. So the spread holds the ranges, their interactions and the sampling noise of the run
time. Members run for a shorter time than the prediction itself, which makes the noise, and with
it the interval, rather too wide than too narrow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LOW_PERCENT = 2.5
HIGH_PERCENT = 97.5
_SEED = 460


@dataclass(frozen=True)
class Range:
    """A parameter's dotted path and the integers between which it lies, in base units."""

    path: str
    low: int
    high: int


def latin_hypercube(ranges: Sequence[Range], members: int) -> list[dict[str, int]]:
    """`members` points that cover every range evenly; the same points on every call."""
    import numpy as np
    from scipy.stats import qmc  # takes longer to load than a short simulation

    if not ranges:
        return [{} for _ in range(members)]
    sampler = qmc.LatinHypercube(d=len(ranges), rng=np.random.default_rng(_SEED))
    return [
        {
            r.path: r.low + int(share * (r.high - r.low + 1))
            for r, share in zip(ranges, row, strict=True)
        }
        for row in sampler.random(members)
    ]


def interval(predicted: float, members: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of an ensemble; it always holds the prediction itself."""
    if not members:
        return predicted, predicted
    import numpy as np

    low, high = np.percentile(members, [LOW_PERCENT, HIGH_PERCENT])
    return min(predicted, float(low)), max(predicted, float(high))


def intervals(
    predicted: Mapping[str, float], members: Sequence[Mapping[str, float]]
) -> dict[str, tuple[float, float]]:
    """The interval of every key."""
    return {key: interval(value, [m[key] for m in members]) for key, value in predicted.items()}
