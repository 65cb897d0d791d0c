"""Fits parameters of models to measurements that are marked for it: `simnet calibrate`.

A residual is predicted minus measured, divided by the mean of the measurement's absolute values:
so a CPU that idles, where 2 % instead of 3 % is nothing, does not weigh like one that is busy.
Every point is simulated with the same seeds, and the noise of a residual is the spread between
seeds; `leastsquares` says how the fit and its intervals are made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from simnet.errors import InputError
from simnet.printable import typed
from simnet.scenario.core.parameter import State
from simnet.spelling import nearest
from simnet.study.run.arguments import names_of
from simnet.study.run.result import Result
from simnet.study.statistics.leastsquares import Evaluate, Fit, Free, Profile, Vector, fit, profile
from simnet.study.validate.document import Answer, answer
from simnet.study.validate.measurements import measurement
from simnet.study.validate.predictions import predictions
from simnet.study.work.cases import Case, Draw, Member, Progress, simulate_all
from simnet.study.work.vary import Varied, canonical_name, ranged

DURATION = "500 ms"
SEEDS = (1, 2, 3)
# neighbouring values differ by less than two seeds do: derivatives need a long lever
STEP = 0.2
ITERATIONS = 12
# parameters are integers in base units
_GRAIN = 1.0
_STATES: tuple[State, ...] = ("assumed", "calibrated", "datasheet", "measured")


@dataclass(frozen=True)
class Target:
    """A measurement to fit to, all of its keys or some.

    `correction` is added to what is predicted: where a mean is simulated over some message sizes
    only, what it lacks to the mean over all, at the values from which the fit starts.
    """

    id: str
    keys: tuple[str, ...]
    values: Vector
    answer: Answer
    correction: Vector | None = None

    @property
    def scale(self) -> float:
        """What residuals are divided by."""
        return float(np.mean(np.abs(self.values)))


@dataclass(frozen=True)
class Fitted:
    """A measured number and what the fitted model predicts for it."""

    id: str
    key: str
    measured: float
    predicted: float


@dataclass(frozen=True)
class Calibration:
    """Fitted parameters; `base` holds what they were before, by name.

    `messages` are the message sizes behind ratios that are means over sizes; all when empty.
    """

    base: Mapping[str, Varied]
    targets: tuple[Target, ...]
    fit: Fit
    profiles: tuple[Profile, ...]
    messages: tuple[str, ...] = ()

    def numbers(self) -> list[Fitted]:
        """Every number that was fitted to, beside the fitted model's."""
        residuals = iter(self.fit.residuals)
        return [
            Fitted(t.id, key, float(value), float(value + next(residuals) * t.scale))
            for t in self.targets
            for key, value in zip(t.keys, t.values, strict=True)
        ]


@dataclass(frozen=True)
class Runs:
    """How every point is simulated."""

    duration: str | None = DURATION  # simulated time that is measured; the scenario's when None
    warm_up: str | None = None  # simulated time before; the scenario's when None
    seeds: Sequence[int] = SEEDS  # each point is simulated with all of them and averaged
    # message sizes to simulate for ratios that are means over sizes; all when empty. What a
    # mean over some lacks to the mean over all is simulated once, before the fit.
    messages: tuple[str, ...] = ()
    jobs: int | None = None  # number of processes, one a CPU when None
    progress: Progress | None = None  # called with the simulations done and in all, batch by batch


def calibrate(
    against: str | Sequence[str],
    parameters: str | Sequence[str],
    *,
    scenario: str = "",
    runs: Runs | None = None,
    step: float = STEP,
    profiles: bool = False,
) -> Calibration:
    """Fit parameters to measurements by least squares.

    Args:
        against: ids of measurements, each as `ID` or `ID:KEY,KEY`.
        parameters: names by model or dotted path; each needs a range (`low`, `high`).
        scenario: simulate another scenario, or a file, in place of the measurements' own.
        runs: how every point is simulated; `Runs()` when None.
        step: half width of the differences behind derivatives, as a part of the range.
        profiles: follow each parameter over its range, the others fitted anew (slow).

    Raises:
        InputError: an unknown id, key or parameter, a parameter without a range, more parameters
            than numbers, or a measurement that may not be fitted to.
    """
    runs = runs or Runs()
    ids = names_of(against, "against")
    targets = tuple(target(name, scenario, runs.messages) for name in ids)
    if runs.messages:
        whole = [target(name, scenario) for name in ids]
        targets = _corrected(targets, whole, runs)
    free = _free(cases_of(targets), names_of(parameters, "--parameter"))
    count = sum(len(t.keys) for t in targets)
    if len(free) > count:
        expected = (
            f"{len(free)} parameters for {count} measured numbers: at most as many as numbers"
        )
        raise InputError(expected, key="--parameter")
    return fitted(targets, free, runs, step=step, profiles=profiles)


def fitted(
    targets: tuple[Target, ...],
    free: Sequence[Varied],
    runs: Runs,
    *,
    step: float = STEP,
    profiles: bool = False,
    iterations: int = ITERATIONS,
) -> Calibration:
    """Fit parameters to targets, by so many steps at most; `calibrate` says the other arguments."""

    def by_seed(points: Sequence[Vector]) -> list[Vector]:
        draws = [Draw(seed, _integers(free, point)) for point in points for seed in runs.seeds]
        residuals = simulated_residuals(targets, draws, runs)
        return [
            np.array(residuals[start : start + len(runs.seeds)])
            for start in range(0, len(residuals), len(runs.seeds))
        ]

    def evaluate(points: Sequence[Vector]) -> list[Vector]:
        return [np.mean(residuals, axis=0) for residuals in by_seed(points)]

    start = np.array([parameter.value for parameter in free], dtype=float)
    scaled = [Free(p.name, p.value, p.low, p.high, _GRAIN) for p in free]
    found = fit(
        evaluate, scaled, noise=_noise(by_seed([start])[0]), step=step, max_iterations=iterations
    )
    followed = _profiles(evaluate, scaled, found, step) if profiles else ()
    return Calibration({p.name: p for p in free}, targets, found, followed, runs.messages)


def cases_of(targets: Sequence[Target]) -> list[Case]:
    """The cases behind targets, each once."""
    return list(dict.fromkeys(c for t in targets for c in t.answer.cases.values()))


def simulated_residuals(
    targets: Sequence[Target], draws: Sequence[Draw], runs: Runs
) -> list[Vector]:
    """Simulate all cases with each draw's seed and values: by how much it misses the targets."""
    cases = cases_of(targets)
    members = [
        replace(draw.member(case), duration=runs.duration, warm_up=runs.warm_up)
        for draw in draws
        for case in cases
    ]
    results = iter(simulate_all(members, jobs=runs.jobs, progress=runs.progress, lean=True))
    return [_residuals(targets, {case: next(results) for case in cases}) for _ in draws]


def target(text: str, scenario: str = "", messages: Sequence[str] = ()) -> Target:
    """Read `ID` or `ID:KEY,KEY`; raises InputError for what may not be fitted to."""
    name, _, chosen = text.partition(":")
    reply = answer(name).of(scenario, messages)
    measured = measurement(name)
    if measured.never_fitted:
        expected = "expected a measurement marked `calibrate`: this one only scores"
        raise InputError(expected, key=name)
    if measured.use != "calibrate" and not _frozen(name):
        how = typed("simnet", "validate", name, "--freeze", "NAME", "--stage", "TEXT")
        raise InputError(f"expected a frozen prediction before any fit: {how}", key=name)
    keys = tuple(chosen.split(",")) if chosen else tuple(measured.value)
    for key in keys:
        if key not in measured.value:
            expected = f"expected a key of {name}{nearest(key, measured.value)}"
            raise InputError(expected, key=key)
    return Target(name, keys, np.array([measured.value[key] for key in keys]), reply)


def _frozen(name: str) -> bool:
    return any(row.id == name for record in predictions().values() for row in record.rows)


def _free(cases: Sequence[Case], parameters: Sequence[str]) -> list[Varied]:
    if not parameters:
        raise InputError("expected at least one parameter", key="--parameter")
    effective = Member(cases[0]).effective()
    with_range = {parameter.name: parameter for parameter in ranged(effective, _STATES)}
    found = []
    for given in parameters:
        name = canonical_name(effective, given)
        if name not in with_range:
            raise InputError("expected a parameter with a range (low and high)", key=given)
        found.append(with_range[name])
    return found


def _corrected(
    targets: Sequence[Target], whole: Sequence[Target], runs: Runs
) -> tuple[Target, ...]:
    cases = list(dict.fromkeys(c for t in whole for c in t.answer.cases.values()))
    members = [
        Member(case, seed, runs.duration, runs.warm_up) for seed in runs.seeds for case in cases
    ]
    results = iter(simulate_all(members, jobs=runs.jobs, progress=runs.progress, lean=True))
    by_seed = [{case: next(results) for case in cases} for _ in runs.seeds]
    return tuple(
        replace(
            t, correction=np.mean([_predicted(w, r) - _predicted(t, r) for r in by_seed], axis=0)
        )
        for t, w in zip(targets, whole, strict=True)
    )


def _integers(free: Sequence[Varied], point: Vector) -> dict[str, int]:
    return {p.name: round(float(value)) for p, value in zip(free, point, strict=True)}


def _residuals(targets: Sequence[Target], results: Mapping[Case, Result]) -> Vector:
    return np.concatenate([(_predicted(t, results) - t.values) / t.scale for t in targets])


def _predicted(of: Target, results: Mapping[Case, Result]) -> Vector:
    numbers = of.answer.numbers({label: results[c] for label, c in of.answer.cases.items()})
    missing = [key for key in of.keys if key not in numbers]
    if missing:
        message = f"a simulation has no {missing[0]}: expected a longer one"
        raise InputError(message, file="--duration", key=of.id)
    predicted = np.array([numbers[key] for key in of.keys])
    return predicted if of.correction is None else predicted + of.correction


def _noise(residuals: Vector) -> float:
    """Standard deviation of a mean over the seeds, from their spread; 0 for one seed."""
    seeds = len(residuals)
    if seeds == 1:
        return 0.0
    return float(np.sqrt(np.mean(np.var(residuals, axis=0, ddof=1)) / seeds))


def _profiles(
    evaluate: Evaluate, free: Sequence[Free], found: Fit, step: float
) -> tuple[Profile, ...]:
    at_solution = [Free(p.name, found.values[p.name], p.low, p.high, p.grain) for p in free]
    return tuple(profile(evaluate, at_solution, p.name, step=step) for p in free)
