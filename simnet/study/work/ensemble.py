"""What is not known about a prediction: an ensemble over the ranges of uncertain parameters.

Every member draws all parameters that have a range and are not known for certain (assumed, or
calibrated with an interval) from a Latin hypercube, uniformly, and its own seed for the random
numbers. So the spread holds the ranges, their interactions and the sampling noise of the run
time. Members run for a shorter time than the prediction itself, which makes the noise, and with
it the interval, rather too wide than too narrow.

Drawn independently, the parameters would forget that the model was fitted: most members miss the
anchor of the calibration. So what they predict is conditioned on the anchor, linearly, by the
covariance between prediction and anchor over the ensemble. What the anchor fixes narrows to the
anchor's own error; what it does not determine keeps its spread. Source: the ensemble smoother with
perturbed observations, van Leeuwen and Evensen, Monthly Weather Review 124 (1996) 2898.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

_SEED = 460
# of parameters: those of all documents' systems
_MOST_COLUMNS = 4096


@dataclass(frozen=True)
class Range:
    """A parameter's dotted path and the integers between which it lies, in base units."""

    path: str
    low: int
    high: int


def latin_hypercube(ranges: Sequence[Range], members: int) -> list[dict[str, int]]:
    """`members` points that cover every range evenly; the same points on every call.

    A range's coordinates depend on its path alone: member k has the same value of a parameter in
    every case that has the parameter.
    """
    columns = {
        r.path: [r.low + int(share * (r.high - r.low + 1)) for share in _shares(r.path, members)]
        for r in ranges
    }
    return [{path: column[k] for path, column in columns.items()} for k in range(members)]


@lru_cache(maxsize=_MOST_COLUMNS)
def _shares(path: str, members: int) -> tuple[float, ...]:
    """One point in each of so many equal parts, in an order that chance draws.

    McKay, Beckman and Conover, Technometrics 21 (1979) 239. The same numbers as SciPy's, whose
    module takes longer to load than a short simulation.
    """
    import numpy as np

    (rng,) = np.random.default_rng([_SEED, *path.encode()]).spawn(1)
    inside = rng.uniform(size=members)
    order = np.arange(1, members + 1)
    rng.shuffle(order)
    return tuple(map(float, (order - inside) / members))


@dataclass(frozen=True)
class Anchor:
    """A measured number that the model was fitted to, and its standard error."""

    value: float
    error: float


def condition(
    members: Sequence[Mapping[str, float]],
    at_anchors: Sequence[Mapping[str, float]],
    anchors: Mapping[str, Anchor],
    seed: int = _SEED,
) -> list[dict[str, float]]:
    """The members' predictions, moved to where the anchors say that they should be.

    Args:
        members: predictions by key, one mapping a member.
        at_anchors: what the same members predict for the anchors.
        anchors: what was measured there.
        seed: of the anchors' perturbations; another one where the members are moved again.
    """
    import numpy as np

    if not members or not anchors:
        return [dict(member) for member in members]
    keys = list(members[0])
    predicted = np.array([[member[key] for key in keys] for member in members])
    simulated = np.array([[member[name] for name in anchors] for member in at_anchors])
    error = np.array([anchor.error for anchor in anchors.values()])
    observed = np.array([anchor.value for anchor in anchors.values()])
    drawn = observed + error * np.random.default_rng(seed).standard_normal(simulated.shape)
    spread = simulated - simulated.mean(axis=0)
    covariance = spread.T @ spread / max(len(members) - 1, 1) + np.diag(error**2)
    cross = (predicted - predicted.mean(axis=0)).T @ spread / max(len(members) - 1, 1)
    moved = predicted + np.linalg.solve(covariance, (drawn - simulated).T).T @ cross.T
    return [dict(zip(keys, map(float, row), strict=True)) for row in moved]
