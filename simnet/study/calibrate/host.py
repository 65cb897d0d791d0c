"""Costs of a user's host from what was measured on it: `simnet calibrate HOST`.

1. Draw every uncertain parameter from its range, and simulate what was measured with each draw.
2. Move the draws to where they agree with what was measured, within its error, by the covariance
   of parameters and numbers (`ensemble.condition`). Twice, each time with the error that makes both
   worth one: costs act on numbers along curves, not straight lines. What no number depends on
   keeps its draws. Source: Emerick and Reynolds, "Ensemble smoother with multiple data
   assimilation", Computers and Geosciences 55 (2013) 3.
3. The spread of the moved draws is what is not known afterwards: an interval for each parameter,
   which holds what all others may be.
4. As many parameters as there are combinations that the numbers tell apart are fitted by least
   squares, all others at their values (`leastsquares`). They stand in for those.

The draws are kept beside the scenario, so that what is known of sums of costs stays known.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from simnet.errors import InputError
from simnet.scenario.core.load import load
from simnet.study.calibrate.calibrate import (
    Calibration,
    Runs,
    Target,
    cases_of,
    fitted,
    simulated_residuals,
)
from simnet.study.calibrate.conditions import conditions, scenario_of, targets_of
from simnet.study.calibrate.modelfile import Written, write_fitted
from simnet.study.statistics.leastsquares import Estimate, Vector, telling
from simnet.study.work.cases import Draw, Member
from simnet.study.work.ensemble import Anchor, Range, condition, latin_hypercube
from simnet.study.work.kept import keep
from simnet.study.work.vary import Varied, ranged

MEMBERS: Final = 40
ERROR: Final = 0.03
"""Of a measured number, relative to the mean of its kind."""
_ROUNDS: Final = 2
_FIRST_SEED: Final = 5000
_NORMAL_95: Final = 1.96
# of the spread before: what is narrower was told by the data
_TOLD: Final = 0.7
_MOST_FITTED: Final = 4
# the fit starts where the draws have come to
_ITERATIONS: Final = 4
# standard errors of a correlation that is nothing
_CHANCE: Final = 2.5


@dataclass(frozen=True)
class Known:
    """A parameter after the draws were moved: its mean and 95 % interval, in base units.

    `share` is its spread as a part of the spread before.
    """

    name: str
    mean: float
    low: float
    high: float
    share: float

    @property
    def told(self) -> bool:
        """Whether the data say something of it alone."""
        return self.share < _TOLD


@dataclass(frozen=True)
class Moved:
    """Draws that agree with what was measured."""

    draws: tuple[Draw, ...]  # values by name
    known: tuple[Known, ...]  # of each parameter
    slopes: Vector  # by how much each residual changes when a parameter crosses its range


@dataclass(frozen=True)
class HostFit:
    """What the data of a host say."""

    scenario: Path  # its file
    calibration: Calibration  # the few parameters that were fitted, with the intervals of the draws
    moved: Moved  # all parameters

    @property
    def untold(self) -> tuple[Known, ...]:
        """Parameters of which the data say next to nothing, alone."""
        fitted_ones = {one.name for one in self.calibration.fit.estimates if one.identified}
        return tuple(k for k in self.moved.known if not k.told and k.name not in fitted_ones)


def calibrate_host(
    host: str | Path, *, runs: Runs | None = None, members: int = MEMBERS, error: float = ERROR
) -> HostFit:
    """Fit what the captures of a host can tell.

    Args:
        host: the folder that `simnet import` wrote, or a scenario's file; see `conditions`.
        runs: how every point is simulated; the scenario's times and one seed when None.
        members: draws of the uncertain parameters.
        error: of a measured number, relative to the mean of its kind.

    Raises:
        InputError: a file cannot be read, or nothing measured says anything of costs.
    """
    scenario = scenario_of(host)
    targets = targets_of(conditions(scenario))
    chosen = runs or Runs(duration=None, seeds=(1,))
    free = free_of(targets)
    found = moved(targets, free, chosen, members, error)
    names = telling(found.slopes, len(free), error)[:_MOST_FITTED]
    if not names:
        raise InputError("nothing that was measured depends on an uncertain cost", file=scenario)
    means = {one.name: one for one in found.known}
    start = [replace(free[n], value=round(means[free[n].name].mean)) for n in names]
    calibration = fitted(targets, start, chosen, iterations=_ITERATIONS)
    estimates = tuple(_wide(one, means[one.name]) for one in calibration.fit.estimates)
    base = {p.name: p for p in free if p.name in calibration.base}
    fit = replace(calibration.fit, estimates=estimates)
    return HostFit(scenario, replace(calibration, base=base, fit=fit), found)


def write(found: HostFit) -> tuple[list[Written], Path]:
    """Write what was fitted into the user's models, and the draws beside the scenario.

    Returns:
        What was changed, and the draws' file.

    Raises:
        InputError: a model comes with simnet, or a file can't be written.
    """
    fit = found.calibration.fit
    told = replace(fit, estimates=tuple(one for one in fit.estimates if one.identified))
    file = str(found.scenario)
    changes = write_fitted(replace(found.calibration, fit=told), load(file), file)
    return changes, keep(file, found.moved.draws)


def free_of(targets: Sequence[Target]) -> list[Varied]:
    """All uncertain parameters behind targets, each once."""
    found: dict[str, Varied] = {}
    for case in cases_of(targets):
        for one in ranged(Member(case).effective()):
            if not one.fits:
                found.setdefault(one.name, one)
    return list(found.values())


def moved(
    targets: Sequence[Target], free: Sequence[Varied], runs: Runs, members: int, error: float
) -> Moved:
    """Draw parameters from their ranges and move them to where they agree with targets."""
    points = latin_hypercube([Range(p.name, p.low, p.high) for p in free], members)
    before: dict[str, float] = {}
    slopes = np.zeros((0, len(free)))
    seed = _FIRST_SEED
    for round_ in range(_ROUNDS):
        draws = [Draw(seed + number, point) for number, point in enumerate(points)]
        seed += members
        residuals = simulated_residuals(targets, draws, runs)
        if not round_:
            before = {p.name: _spread([point[p.name] for point in points]) for p in free}
            slopes = _slopes(free, points, np.array(residuals))
        points = _conditioned(free, points, residuals, error * math.sqrt(_ROUNDS), seed)
    numbers = len(slopes)
    # each round loses it once
    lost = math.sqrt(max(members - 1, 1) / max(members - 1 - numbers, 1)) ** _ROUNDS
    known = tuple(_known(p, [one[p.name] for one in points], before[p.name], lost) for p in free)
    draws = [Draw(seed + number, point) for number, point in enumerate(points)]
    return Moved(tuple(draws), known, slopes)


def _conditioned(
    free: Sequence[Varied],
    points: Sequence[Mapping[str, int]],
    residuals: Sequence[Vector],
    error: float,
    seed: int,
) -> list[dict[str, int]]:
    """The draws moved to where nothing that was measured is missed, inside their ranges.

    What no number depends on more than it would by chance stays: of few draws, any two things seem
    to depend on each other a little.
    """
    numbered = [{str(n): float(value) for n, value in enumerate(one)} for one in residuals]
    anchors = dict.fromkeys(numbered[0], Anchor(0.0, error))
    found = condition(
        [{name: float(value) for name, value in point.items()} for point in points],
        numbered,
        anchors,
        seed,
    )
    acting = _acting(free, points, residuals)
    return [
        {
            p.name: round(min(max(one[p.name], p.low), p.high)) if p.name in acting else old[p.name]
            for p in free
        }
        for one, old in zip(found, points, strict=True)
    ]


def _acting(
    free: Sequence[Varied], points: Sequence[Mapping[str, int]], residuals: Sequence[Vector]
) -> set[str]:
    """Names of parameters on which a residual depends more than it would by chance."""
    values = np.array([[one[p.name] for p in free] for one in points], dtype=float)
    everything = np.hstack([values, np.array(residuals)])
    constant = np.std(everything, axis=0) == 0
    everything[0, constant] += 1.0  # else its correlation would be nothing over nothing
    found = np.abs(np.corrcoef(everything, rowvar=False))[: len(free), len(free) :]
    strong = np.max(found, axis=1) > _CHANCE / math.sqrt(len(points))
    return {p.name for p, acts in zip(free, strong, strict=True) if acts}


def _slopes(
    free: Sequence[Varied], points: Sequence[Mapping[str, int]], residuals: Vector
) -> Vector:
    """Slopes of residuals over scaled parameters, which a hypercube draws independently."""
    scaled = np.array([[(one[p.name] - p.low) / (p.high - p.low) for p in free] for one in points])
    scaled -= scaled.mean(axis=0)
    centred = residuals - residuals.mean(axis=0)
    found: Vector = centred.T @ scaled / np.sum(scaled**2, axis=0)
    return found


def _spread(values: Sequence[float]) -> float:
    return float(np.std(np.array(values, dtype=float), ddof=1))


def _known(parameter: Varied, values: Sequence[int], before: float, lost: float) -> Known:
    """`lost`: by which factor covariances of few draws make the spread too small."""
    mean, spread = sum(values) / len(values), _spread(values) * lost
    half = _NORMAL_95 * spread
    low = max(math.floor(mean - half), parameter.low)
    high = min(math.ceil(mean + half), parameter.high)
    return Known(parameter.name, mean, low, high, min(spread / before, 1.0))


def _wide(estimate: Estimate, known: Known) -> Estimate:
    """The estimate with the draws' interval: that holds what all others may be."""
    ends: Any = (known.low, known.high, estimate.value)
    return replace(estimate, low=min(ends), high=max(ends))
