"""The 95 % interval of a prediction.

It is the hull of two parts; the prediction lies inside.

- *Chance and parameters*. Members of an ensemble draw every parameter that is assumed or
  calibrated from its whole range, and a seed, and are moved to where they agree with what was
  fitted as well as the prediction does (`members`). What counts is by which factor a member's
  number differs from the number that the prediction's parameters give in the same short run. The
  part is Student's prediction interval for one more member, on the logarithmic scale of its kind
  (`kinds`).
- *The model itself* (`Discrepancy`): how far off predictions of that kind of quantity have been
  where their configuration was left out of the fit.

The hull and not a sum of squares: what was left out was predicted with parameters that other
measurements had to fix, so its residuals hold a usual uncertainty of parameters already. The first
part is there for predictions that depend more than usual on what nothing has fixed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from simnet.study.validate.kinds import factor

__all__ = ["Part", "hull", "parameters"]

Part: TypeAlias = tuple[float, float]
"""The ends of an interval, as logarithms of factors of the prediction."""

_CONFIDENCE_TAIL: Final = 0.975


def parameters(logarithms: Sequence[float]) -> Part:
    """What chance and parameters add, from the logarithms of the members' factors.

    Fewer than two members add nothing.
    """
    count = len(logarithms)
    if count < 2:  # noqa: PLR2004 (one value has no spread)
        return 0.0, 0.0
    from scipy.special import stdtrit  # scipy.stats takes a second to load

    mean = sum(logarithms) / count
    variance = sum((one - mean) ** 2 for one in logarithms) / (count - 1)
    half = float(stdtrit(count - 1, _CONFIDENCE_TAIL)) * math.sqrt(variance * (1 + 1 / count))
    return mean - half, mean + half


def hull(predicted: float, parts: Iterable[Part], kind: str) -> tuple[float, float]:
    """The interval that holds a prediction and all parts, in the unit of the prediction."""
    ends = [0.0, *(end for part in parts for end in part)]
    low, high = (factor(predicted, end, kind) for end in (min(ends), max(ends)))
    return min(low, predicted), max(high, predicted)
