"""The 95 % interval of a prediction.

It is the hull of two parts; the prediction lies inside.

- *Chance and parameters*. Members of an ensemble draw every parameter that is assumed or
  calibrated from its whole range, and a seed, and are moved to where they agree with what was
  fitted as well as the prediction does (`members`). What counts is by which factor a member's
  number differs from the number that the prediction's parameters give in the same short run. The
  part is Student's prediction interval for one more member, on the logarithmic scale of its kind
  (`kinds`).
- *The model itself* (`discrepancy`): how far off predictions of that kind of quantity were where
  their configuration was left out of the fit, in all documents; of a number that is one of them,
  without its own configuration. Of n such residuals the ceil(0.95 (n + 1))-th smallest counts, and
  the largest where n is too small for that; a kind with fewer than 8 is pooled with those like it.
  Numbers that were known while mechanisms were chosen make it wider, but never narrower.
  Source: Barber, Candes, Ramdas and Tibshirani, "Predictive inference with the jackknife+", Annals
  of Statistics 49 (2021) 486.

The hull and not a sum of squares: what was left out was predicted with parameters that other
measurements had to fix, so its residuals hold a usual uncertainty of parameters already. The first
part is there for predictions that depend more than usual on what nothing has fixed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Final, TypeAlias

from simnet.study.validate.kinds import alike, factor
from simnet.study.validate.residuals import Residual

Part: TypeAlias = tuple[float, float]
"""The ends of an interval, as logarithms of factors of the prediction."""

_CONFIDENCE: Final = 0.95
_CONFIDENCE_TAIL: Final = 0.975
# members whose extremes say where the next one lies: with a probability of (n - 1) / (n + 1)
_MANY: Final = 24
_ALL: Final = 100.0
# members of which each side of the median has a spread of its own
_UNEVEN: Final = 8
# residuals of a kind from which its own quantile is taken
ENOUGH: Final = 8


def parameters(logarithms: Sequence[float]) -> Part:
    """What chance and parameters add, from the logarithms of the members' factors.

    Fewer than two members add nothing. Of many, 92 % or more of the next lie between the extremes:
    the interval goes no further, as it would where a queue that fills makes one end long.
    """
    count = len(logarithms)
    if count < 2:  # noqa: PLR2004 (one value has no spread)
        return 0.0, 0.0
    from scipy.special import stdtrit  # scipy.stats takes a second to load

    mean = sum(logarithms) / count
    variance = sum((one - mean) ** 2 for one in logarithms) / (count - 1)
    half = float(stdtrit(count - 1, _CONFIDENCE_TAIL)) * math.sqrt(variance * (1 + 1 / count))
    if count < _MANY:
        return mean - half, mean + half
    return max(mean - half, min(logarithms)), min(mean + half, max(logarithms))


def parameters_of_few(logarithms: Sequence[float]) -> Part:
    """The same of members too few for their extremes to say where the next one lies.

    A queue that fills in some members and not in others makes one side of the median much wider.
    Student's interval would be as wide on both; here each side has the spread of its own values,
    and their number as degrees of freedom. Fewer than 8 have no sides.
    """
    count = len(logarithms)
    if not _UNEVEN <= count < _MANY:
        return parameters(logarithms)
    from scipy.special import stdtrit  # scipy.stats takes a second to load

    middle = median(logarithms)
    beyond = count // 2
    half = float(stdtrit(beyond, _CONFIDENCE_TAIL)) * math.sqrt(1 + 1 / count)
    sums = [
        sum((one - middle) ** 2 for one in logarithms if side * (one - middle) > 0)
        for side in (-1, 1)
    ]
    low, high = (math.sqrt(one / beyond) for one in sums)
    return middle - half * low, middle + half * high


def discrepancy(kind: str, known: Sequence[Residual], configuration: str | None = None) -> float:
    """How far off the model itself is for a kind of quantity, as the logarithm of a factor.

    Args:
        kind: of the quantity.
        known: what was left out of fits.
        configuration: of the number that it is for: its own residuals do not count.
    """
    others = [one for one in known if one.configuration != configuration]
    unseen = [one for one in others if not one.looked_at]
    return max(_off(kind, unseen), _off(kind, others))


def _off(kind: str, known: Sequence[Residual]) -> float:
    same = [one for one in known if one.kind == kind]
    if len(same) < ENOUGH:
        same = [one for one in known if alike(one.kind, kind)] or [*known]
    return quantile([abs(one.log) for one in same])


def quantile(sizes: Sequence[float]) -> float:
    """The size that one more stays below with a probability of 95 %; 0 where nothing is known."""
    if not sizes:
        return 0.0
    place = math.ceil(_CONFIDENCE * (len(sizes) + 1))
    return sorted(sizes)[min(place, len(sizes)) - 1]


def hull(predicted: float, parts: Iterable[Part], kind: str) -> tuple[float, float]:
    """The interval that holds a prediction and all parts, in the unit of the prediction.

    Nothing but a gain is less than nothing, and no share more than all. CPU shares may be of
    several CPUs together.
    """
    ends = [0.0, *(end for part in parts for end in part)]
    low, high = (factor(predicted, end, kind) for end in (min(ends), max(ends)))
    least = low if kind == "gain" else max(low, 0.0)
    most = min(high, _ALL) if kind == "share" and predicted <= _ALL else high
    return min(least, predicted), max(most, predicted)
