"""Which points of a sweep may be the best: multiple comparisons with the best.

Every point is simulated with the same seeds, so the runs of one seed are a block. What may
be the best is what Hsu's constrained intervals leave: a point stays when its mean is less
than `w` from the best of all others. `w` is `g * sqrt(2 * mse / n)` for `n` seeds, with the
residual mean square of points by seeds, and `g` the one-sided 95 % quantile of the largest of
`k - 1` Student variables that correlate by 1/2. With 95 % confidence the true best is among them.

The residual is that of all points together: it assumes that differences between any two of them
vary alike. Where they don't, the procedure was found to be robust.

Sources: Hsu, Annals of Statistics 12 (1984) 1136; with common random numbers Nelson and Matejcik,
Management Science 41 (1995) 1935; the quantile: Dunnett, JASA 50 (1955) 1096.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

CONFIDENCE: Final = 0.95
_NODES: Final = 96
_STEPS: Final = 200


@dataclass(frozen=True)
class Contenders:
    """The best of some points, and those that may be the best as well."""

    best: int  # which point has the best mean
    members: tuple[int, ...]  # the points of the set in order, the best among them
    within: float  # how much worse than the best others a mean in the set can be


def contenders(values: npt.NDArray[np.float64], *, largest: bool) -> Contenders | None:
    """The points that may be best, of an array of points by seeds.

    `largest` says whether more is better. None when there is one seed or one point only: nothing
    says then how much a mean varies, or nothing is to be chosen.
    """
    points, seeds = values.shape
    if points < 2 or seeds < 2:  # noqa: PLR2004 (below two there is no variance)
        return None
    signed = values if largest else -values
    means = signed.mean(axis=1)
    residuals = signed - means[:, None] - signed.mean(axis=0) + signed.mean()
    freedom = (points - 1) * (seeds - 1)
    error = float((residuals**2).sum()) / freedom
    within = largest_student(points - 1, freedom) * np.sqrt(2 * error / seeds)
    order = np.argsort(-means, kind="stable")
    others = np.full(points, means[order[0]])
    others[order[0]] = means[order[1]]
    members = np.flatnonzero(means >= others - within)
    return Contenders(int(order[0]), tuple(map(int, members)), float(within))


@cache
def largest_student(count: int, freedom: int) -> float:
    """The one-sided 95 % quantile of the largest of `count` Student variables, correlation 1/2.

    Each is a difference to the same variable, over a common estimate of the standard error with
    `freedom` degrees of freedom; the double integral is Dunnett's.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtr
    from scipy.stats import chi2

    control, weight = np.polynomial.hermite_e.hermegauss(_NODES)
    weight = weight / weight.sum()
    share, step = np.polynomial.legendre.leggauss(_STEPS)
    scale = np.sqrt(chi2.ppf((share + 1) / 2, freedom) / freedom)

    def missing(quantile: float) -> float:
        inner = ndtr(control[None, :] + np.sqrt(2.0) * quantile * scale[:, None]) ** count
        return float(step @ (inner @ weight)) / 2 - CONFIDENCE

    return float(brentq(missing, 0.0, 1e4, xtol=1e-9))
