"""How much of what a result varies each of a few factors accounts for: Sobol's indices.

All factors are drawn at once. The first-order index of a factor is the share of the variance of the
logarithm of a result that it makes alone, the total index the share in which it has a part; the
difference is what it does together with others. Sampling, estimate and bootstrap are SALib's.
Source: Saltelli et al., Computer Physics Communications 181 (2010) 259.

All runs have the same seed. Values that a system does not take together cannot be drawn: from the
factor that matters most on, each is taken with which all combinations of the sample go.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simnet.study.screen.document import Share
from simnet.study.screen.factors import Factor, turned
from simnet.study.whatif.verdict import measured

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simnet.study.run.result import Result
    from simnet.study.screen.paths import Simulated
    from simnet.study.work.cases import Case

MOST_SHARED: Final = 5
"""Of so many factors, those that matter most, the shares are estimated."""
_RESAMPLES: Final = 200


def shares(
    base: Case,
    ranked: Sequence[Factor],
    points: int,
    seed: int,
    metrics: Sequence[str],
    simulated: Simulated,
) -> tuple[tuple[Share, ...], tuple[str, ...]]:
    """Estimate the shares of the first factors that go together.

    Args:
        base: the system as it is.
        ranked: factors that matter, most first.
        points: of the sample, a power of two; `points` times the number of factors plus two are
            simulated, the same combination once.
        seed: of the sample.
        metrics: of which results.
        simulated: gives the results of cases.

    Returns:
        The shares, in the order of the factors, and the names of those left out.
    """
    taken: list[Factor] = []
    drawn: list[Case] = []
    left: list[str] = []
    for factor in ranked:
        more = _cases(base, [*taken, factor], points, seed) if len(taken) < MOST_SHARED else None
        if more is None:
            left.append(factor.name)
        else:
            taken, drawn = [*taken, factor], more
    if not taken:
        return (), tuple(left)
    results = simulated(list(dict.fromkeys(drawn)))
    found: list[Share] = []
    for metric in metrics:
        values = _logarithms(metric, drawn, results)
        if values is not None:
            found += _estimated(taken, metric, values, seed)
    places = {factor.name: place for place, factor in enumerate(taken)}
    found.sort(key=lambda one: places[one.name])
    return tuple(found), tuple(left)


def _problem(every: Sequence[Factor]) -> dict[str, Any]:
    names = [str(number) for number in range(len(every))]
    return {"num_vars": len(every), "names": names, "bounds": [[0.0, 1.0]] * len(every)}


def _cases(base: Case, every: Sequence[Factor], points: int, seed: int) -> list[Case] | None:
    """The cases of a sample; None where the system does not take one of them."""
    from SALib.sample import sobol  # takes longer to load than a short run

    known: dict[tuple[str, ...], Case | None] = {}
    found: list[Case] = []
    sample = sobol.sample(_problem(every), points, calc_second_order=False, seed=seed)
    for point in sample.tolist():
        values = tuple(one.at(share) for one, share in zip(every, point, strict=True))
        if values not in known:
            known[values] = turned(base, every, values)
        case = known[values]
        if case is None:
            return None
        found.append(case)
    return found


def _logarithms(
    metric: str, drawn: Sequence[Case], results: Mapping[Case, Result]
) -> NDArray[np.float64] | None:
    """Of the results, shape (runs,); None where one has no such number."""
    numbers = [measured(metric, results[case]) for case in drawn]
    if not all(number is not None and number > 0 for number in numbers):
        return None
    return np.array([math.log(number) for number in numbers if number is not None])


def _estimated(
    every: Sequence[Factor], metric: str, values: NDArray[np.float64], seed: int
) -> list[Share]:
    from SALib.analyze import sobol

    if np.ptp(values) == 0:
        return [Share(name=one.name, metric=metric) for one in every]
    found = sobol.analyze(
        _problem(every), values, calc_second_order=False, num_resamples=_RESAMPLES, seed=seed
    )
    return [
        Share(
            name=one.name,
            metric=metric,
            first=float(found["S1"][place]),
            first_within=float(found["S1_conf"][place]),
            total=float(found["ST"][place]),
            total_within=float(found["ST_conf"][place]),
        )
        for place, one in enumerate(every)
    ]
