"""Least squares for a noisy, integer-valued model, and what the data say about each parameter.

Parameters are scaled to their ranges (0 at the lower end, 1 at the upper one), so singular values
of the Jacobian compare: along a direction with singular value s the residuals move by s when the
parameters cross their ranges. The data identify a direction when crossing half of it moves the
residuals by more than two noise levels, and s is not negligible beside the largest. As many
parameters as there are unidentified directions keep their starting value (the choice is QR with
column pivoting's, the usual subset selection) and the others are fitted again.

Derivatives are central differences over a large step, because a simulator's output is a
staircase with a little noise on it; curvature within the step counts as error of the fit.
Sources: Golub and Van Loan, "Matrix Computations", 5.5.7 (subset selection); Seber and Wild,
"Nonlinear Regression", 5.1 (intervals by Student's t).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
Evaluate: TypeAlias = Callable[[Sequence[Vector]], Sequence[Vector]]
"""Residuals at several points at once (so that they may be simulated in parallel)."""

STEP = 0.05
RELATIVE_TOLERANCE = 1e-3
CONFIDENCE = 0.95
_HALF_RANGE = 0.5
_NOISE_LEVELS = 2.0
_TOLERANCE = 1e-4
_SMALL_COMPONENT = 0.1
# the first trust region is as large as the start is far from the bounds: not at all, on one
_INSIDE = 0.05
_PROFILE_ITERATIONS = 4


@dataclass(frozen=True)
class Free:
    """A parameter to fit: starting value and range, in any unit as long as it is the same.

    `grain` is the smallest difference that changes the model, 1 for an integer.
    """

    name: str
    start: float
    low: float
    high: float
    grain: float = 0.0

    def __post_init__(self) -> None:
        if not self.low < self.high or not self.low <= self.start <= self.high:
            message = f"{self.name}: expected low <= start <= high and low < high"
            raise ValueError(message)


@dataclass(frozen=True)
class Direction:
    """A combination of scaled parameters, its singular value and whether the data confine it."""

    singular_value: float
    weights: dict[str, float]
    identified: bool


@dataclass(frozen=True)
class Estimate:
    """One parameter after the fit.

    `low` and `high` are the 95 % interval by Student's t within the parameter's range, or that
    range itself when the data don't confine the parameter; then `value` is where it started.
    """

    name: str
    value: float
    low: float
    high: float
    identified: bool


@dataclass(frozen=True)
class Fit:
    """The result: estimates, what the Jacobian at the solution says, and the residuals there."""

    estimates: tuple[Estimate, ...]
    directions: tuple[Direction, ...]
    rank: int
    residuals: Vector
    sigma: float
    evaluations: int

    @property
    def values(self) -> dict[str, float]:
        """Fitted (or kept) value of every parameter."""
        return {estimate.name: estimate.value for estimate in self.estimates}


@dataclass(frozen=True)
class Profile:
    """Sum of squared residuals over one parameter's range, the others fitted at every value."""

    name: str
    values: tuple[float, ...]
    objective: tuple[float, ...]


def fit(
    evaluate: Evaluate,
    parameters: Sequence[Free],
    *,
    noise: float = 0.0,
    step: float = STEP,
    max_iterations: int = 12,
) -> Fit:
    """Minimise the sum of squared residuals over the parameters' ranges.

    `noise` is the standard deviation of one residual from run to run; what the solution leaves
    over, in the root mean square, counts as noise too. `step` is the half width of the
    differences, as a part of the range.
    """
    model = _Model(evaluate, parameters, step)
    everyone = list(range(len(parameters)))
    solution = _minimise(model, model.start, everyone, max_iterations)
    jacobian = model.jacobian(solution, everyone)
    left_over = float(np.sqrt(np.mean(model.residuals(solution) ** 2)))
    directions = _directions(jacobian, parameters, max(noise, left_over))
    rank = sum(direction.identified for direction in directions)
    kept = everyone
    sigma = _sigma(model.residuals(solution), rank, noise)
    if rank < len(parameters):
        kept = sorted(_leading_columns(jacobian, rank))
        solution = _minimise(model, _with(model.start, solution, kept), kept, max_iterations)
        jacobian = model.jacobian(solution, everyone)
        sigma = _sigma(model.residuals(solution), rank, noise)
    return Fit(
        estimates=_estimates(parameters, solution, jacobian, kept, sigma),
        directions=tuple(directions),
        rank=rank,
        residuals=model.residuals(solution),
        sigma=sigma,
        evaluations=model.evaluations,
    )


def profile(
    evaluate: Evaluate,
    parameters: Sequence[Free],
    name: str,
    *,
    points: int = 7,
    step: float = STEP,
) -> Profile:
    """The objective over one parameter's range, from the starting values of `parameters`.

    The others are fitted anew at every value: a flat profile says that they can make up for it.
    Raises KeyError for an unknown name.
    """
    names = [parameter.name for parameter in parameters]
    if name not in names:
        raise KeyError(name)
    place = names.index(name)
    chosen = parameters[place]
    values = np.linspace(chosen.low, chosen.high, points)
    model = _Model(evaluate, parameters, step)
    others = [index for index in range(len(parameters)) if index != place]
    objective = []
    for value in values:
        here = model.start.copy()
        here[place] = (value - chosen.low) / (chosen.high - chosen.low)
        if others:
            here = _minimise(model, here, others, _PROFILE_ITERATIONS)
        objective.append(float(np.sum(model.residuals(here) ** 2)))
    return Profile(name, tuple(float(value) for value in values), tuple(objective))


def telling(slopes: Vector, count: int, noise: float) -> list[int]:
    """Places of the parameters that stand for what residuals tell apart, the most telling first.

    As many as there are combinations that move residuals by more than their noise.

    Args:
        slopes: of residuals over parameters that are scaled to their ranges.
        count: of parameters.
        noise: of a residual.
    """
    names = [Free(str(number), 0.5, 0.0, 1.0) for number in range(count)]
    rank = sum(one.identified for one in _directions(slopes, names, noise))
    return _leading_columns(slopes, rank)


class _Model:
    """Residuals as a function of scaled parameters, every point computed once."""

    def __init__(self, evaluate: Evaluate, parameters: Sequence[Free], step: float) -> None:
        self._evaluate = evaluate
        self._low = np.array([parameter.low for parameter in parameters], dtype=float)
        self._span = np.array([parameter.high - parameter.low for parameter in parameters])
        grain = np.array([parameter.grain for parameter in parameters])
        self._step = np.maximum(step, grain / self._span)
        self._known: dict[bytes, Vector] = {}
        start = np.array([parameter.start for parameter in parameters], dtype=float)
        self.start: Vector = (start - self._low) / self._span

    @property
    def evaluations(self) -> int:
        return len(self._known)

    def residuals(self, point: Vector) -> Vector:
        return self._at([point])[0]

    def jacobian(self, point: Vector, columns: Sequence[int]) -> Vector:
        """Derivatives by scaled parameters; one-sided within a step of a bound."""
        pairs = []
        for column in columns:
            below, above = point.copy(), point.copy()
            below[column] = max(point[column] - self._step[column], 0.0)
            above[column] = min(point[column] + self._step[column], 1.0)
            pairs += [below, above]
        values = self._at(pairs)
        return np.column_stack(
            [
                (values[2 * n + 1] - values[2 * n])
                / (pairs[2 * n + 1][column] - pairs[2 * n][column])
                for n, column in enumerate(columns)
            ]
        )

    def _at(self, points: Sequence[Vector]) -> list[Vector]:
        new = {point.tobytes(): point for point in points if point.tobytes() not in self._known}
        if new:
            physical = [self._low + point * self._span for point in new.values()]
            for key, value in zip(new, self._evaluate(physical), strict=True):
                self._known[key] = np.asarray(value, dtype=float)
        return [self._known[point.tobytes()] for point in points]


def _minimise(model: _Model, start: Vector, columns: Sequence[int], limit: int) -> Vector:
    if not columns:
        return start

    def whole(part: Vector) -> Vector:
        point = start.copy()
        point[list(columns)] = part
        return point

    def residuals(part: Vector) -> Vector:
        return model.residuals(whole(part))

    def jacobian(part: Vector) -> Vector:
        return model.jacobian(whole(part), columns)

    from scipy import optimize

    solution = optimize.least_squares(
        residuals,
        np.clip(start[list(columns)], _INSIDE, 1.0 - _INSIDE),
        jac=jacobian,
        bounds=(0.0, 1.0),
        xtol=_TOLERANCE,
        ftol=_TOLERANCE,
        max_nfev=limit,
    )
    return whole(solution.x)


def _sigma(residuals: Vector, fitted: int, noise: float) -> float:
    spare = len(residuals) - fitted
    left_over = float(np.sum(residuals**2)) / spare if spare > 0 else 0.0
    return float(np.sqrt(max(left_over, noise**2)))


def _t(residuals: int, fitted: int) -> float:
    from scipy import stats

    return float(stats.t.ppf((1 + CONFIDENCE) / 2, max(residuals - fitted, 1)))


def _directions(jacobian: Vector, parameters: Sequence[Free], level: float) -> list[Direction]:
    from scipy import linalg

    _, values, rows = linalg.svd(jacobian, full_matrices=True)
    singular = np.zeros(len(parameters))
    singular[: len(values)] = values
    floor = max(RELATIVE_TOLERANCE * singular[0], _NOISE_LEVELS * level / _HALF_RANGE)
    return [
        Direction(
            singular_value=float(value),
            weights={
                parameter.name: float(weight)
                for parameter, weight in zip(parameters, row, strict=True)
                if abs(weight) >= _SMALL_COMPONENT
            },
            identified=bool(value > floor),
        )
        for value, row in zip(singular, rows, strict=True)
    ]


def _leading_columns(jacobian: Vector, rank: int) -> list[int]:
    from scipy import linalg

    _, _, order = linalg.qr(jacobian, mode="economic", pivoting=True)
    return [int(column) for column in order[:rank]]


def _with(base: Vector, other: Vector, columns: Sequence[int]) -> Vector:
    mixed = base.copy()
    mixed[list(columns)] = other[list(columns)]
    return mixed


def _estimates(
    parameters: Sequence[Free],
    solution: Vector,
    jacobian: Vector,
    kept: Sequence[int],
    sigma: float,
) -> tuple[Estimate, ...]:
    from scipy import linalg

    active = jacobian[:, list(kept)]
    covariance = sigma**2 * linalg.pinvh(active.T @ active) if kept else np.zeros((0, 0))
    half = _t(len(jacobian), len(kept)) * np.sqrt(np.diag(covariance))
    widths = dict(zip(kept, half, strict=True))
    estimates = []
    for index, parameter in enumerate(parameters):
        span = parameter.high - parameter.low
        value = parameter.low + float(solution[index]) * span
        width = float(widths.get(index, np.inf)) * span
        estimates.append(
            Estimate(
                name=parameter.name,
                value=value,
                low=max(value - width, parameter.low),
                high=min(value + width, parameter.high),
                identified=index in widths,
            )
        )
    return tuple(estimates)
