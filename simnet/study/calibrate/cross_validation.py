"""Cross-validation: how far off predictions are of what the parameters were not fitted to.

One configuration at a time is left out (a listing, a block of a table's rows, a capacity), the
calibrated parameters are fitted to all others, and the one left out is predicted. Simulated are the
parameters as they are, and one point a parameter, all with the same seeds; from there the model
counts as linear on the logarithmic scale of each number's kind (`leaveout`, `kinds`). `confirm`
simulates what is left out with the parameters that were fitted to the others instead.

What the others do not determine is not predicted by them, but by a value that was fitted to it: it
is no part of the answer (`Linear.says`).

What a measurement's use keeps from being fitted to is predicted from all others, too. Where fewer
than three configurations may be fitted to, a fit without one of them says little: then only what is
never fitted to counts, and it is predicted with the parameters as they are.

Where what was measured chose the draws that a document keeps, nothing is linear: draws are searched
for again without a measurement, and numbers are means over them (`Document.searches`).
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import median
from typing import Final, TypeAlias

import numpy as np

import simnet
from simnet.errors import InputError
from simnet.spelling import nearest
from simnet.study.statistics.leastsquares import Vector
from simnet.study.statistics.leaveout import Linear
from simnet.study.validate.asking import Ask, simulated
from simnet.study.validate.document import Answer, Document, configuration_of, documents, kind_of
from simnet.study.validate.intervals import discrepancy
from simnet.study.validate.kinds import factor, log_factor
from simnet.study.validate.measurements import measurement, measurements
from simnet.study.validate.members import MEMBER_TIMES, Simulations
from simnet.study.validate.predictions import today
from simnet.study.validate.residuals import Residual, Residuals, residuals
from simnet.study.work.cases import Case, Member, Progress
from simnet.study.work.vary import Varied, ranged, uncertain_parameters

SEEDS: Final = (1, 2)
# configurations of a document that is fitted without one of them
_FEWEST: Final = 3
# of a range: neighbouring values differ by less than two seeds do
_STEP: Final = 0.3
# cases whose parameters are at hand
_MOST_KNOWN: Final = 1024


@dataclass(frozen=True)
class CrossValidation:
    """What was left out of the fits, one configuration at a time."""

    document: str  # name of the document
    parameters: tuple[Varied, ...]  # what was fitted, as it is
    rows: tuple[Residual, ...]  # the measured numbers

    @property
    def median_error(self) -> float:
        """Median of the errors of what was left out, without their signs."""
        return median(abs(off) for one in self.rows if (off := one.error) is not None)

    def inside(self, row: Residual) -> bool:
        """Whether a number lies in the interval that the residuals of all others make."""
        kept = [one for one in residuals() if one.configuration not in self._configurations]
        return abs(row.log) <= discrepancy(row.kind, [*kept, *self.rows], row.configuration)

    @property
    def coverage(self) -> float:
        """Share of the numbers inside their interval."""
        return sum(map(self.inside, self.rows)) / len(self.rows)

    @property
    def residuals(self) -> Residuals:
        """The document's residuals as data."""
        values = [[one.name, one.value, one.low, one.high] for one in self.parameters]
        text = json.dumps(values, separators=(",", ":"))
        return Residuals(
            document=self.document,
            date=today(),
            version=simnet.__version__,
            parameters=hashlib.blake2b(text.encode(), digest_size=8).hexdigest(),
            rows=self.rows,
        )

    @property
    def _configurations(self) -> set[str]:
        return {one.configuration for one in self.rows}


@dataclass(frozen=True)
class _Number:
    """A measured number by its place."""

    id: str
    key: str
    measured: float
    kind: str
    configuration: str
    fits: bool
    looked_at: bool


def cross_validated_documents(*, hours: bool = False) -> dict[str, Document]:
    """The documents that can be cross-validated, by name.

    `hours`: those that take hours, too, because their draws are searched for again.
    """
    return {one.name: one for one in documents() if _answers(one) or (hours and one.searches)}


def cross_validate(
    name: str,
    *,
    seeds: Sequence[int] = SEEDS,
    confirm: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> CrossValidation:
    """Leave out each configuration of a document in turn, and predict it from all others.

    Args:
        name: of the document.
        seeds: of every point; numbers are means over them.
        confirm: simulate what is left out, instead of taking the linear model's word for it.
        jobs: number of processes, one a CPU when None.
        progress: called with the simulations done and in all.

    Raises:
        InputError: no document that can be cross-validated has that name; no number says anything
            of another; nothing that can be drawn is consistent with what was measured; seeds or a
            confirmation are asked for where draws are searched for.
    """
    known = cross_validated_documents(hours=True)
    if name not in known:
        expected = f"expected the name of a document: one of {', '.join(known)}"
        raise InputError(f"{expected}{nearest(name, known)}", key=name)
    if known[name].searches:
        _refuse_of_searches(seeds, confirm=confirm)
        return _searched(known[name], jobs, progress)
    answers = _answers(known[name])
    numbers = list(_numbers(answers))
    parameters = _parameters(answers)
    runs = _Runs(answers, parameters, tuple(seeds), jobs, progress)
    if len({one.configuration for one in numbers if one.fits}) < _FEWEST:
        kept = [one for one in numbers if not one.fits]
        return _validated(name, parameters, runs.as_they_are(kept))
    predicted, jacobian = runs.linearised(numbers)
    deviation = [log_factor(n.measured, p, n.kind) for n, p in zip(numbers, predicted, strict=True)]
    linear = Linear(np.array(deviation), jacobian, np.array([_scaled(p) for p in parameters]))
    every = linear.fitted([place for place, one in enumerate(numbers) if one.fits])
    rest = {
        left: [place for place, one in enumerate(numbers) if one.fits and one.configuration != left]
        for left in dict.fromkeys(one.configuration for one in numbers)
    }
    changes = {left: linear.fitted(places) for left, places in rest.items()}
    moved = runs.confirmed(numbers, changes) if confirm else None
    rows = []
    for place, (one, now) in enumerate(zip(numbers, predicted, strict=True)):
        if one.fits and not linear.says(place, rest[one.configuration]):
            continue
        fitted, linearly = (
            float(jacobian[place] @ change) for change in (every, changes[one.configuration])
        )
        left = factor(now, moved[place] if moved else linearly, one.kind)
        rows.append(_residual(one, factor(now, fitted, one.kind), left))
    return _validated(name, parameters, rows)


def _validated(
    name: str, parameters: tuple[Varied, ...], rows: Iterable[Residual]
) -> CrossValidation:
    """What was left out; InputError where nothing could be."""
    if not (kept := tuple(rows)):
        message = (
            "nothing can be left out: its numbers were fitted to, each says what no other does"
        )
        raise InputError(message, key=name)
    return CrossValidation(name, parameters, kept)


def _refuse_of_searches(seeds: Sequence[int], *, confirm: bool) -> None:
    """Refuse what has no effect where draws are searched for."""
    if confirm:
        raise InputError("nothing to confirm: what was left out is simulated", key="--confirm")
    if tuple(seeds) != SEEDS:
        raise InputError("each of its draws has a seed of its own", key="--seeds")


def _searched(document: Document, jobs: int | None, progress: Progress | None) -> CrossValidation:
    """What is predicted with the draws that were found without each measurement.

    Mechanisms were chosen when it was known: it counts as looked at.
    """
    rows: list[Residual] = []
    for name, search in document.searches.items():
        of = document.answers[name]
        kept, found = of.ensemble() if of.ensemble else (), search(jobs, progress)
        if not found:
            raise InputError("no draw is consistent with the other measurements", key=name)
        asks = [Ask(of, draw.member) for draw in (*kept, *found)]
        each = [of.numbers(done) for done in simulated(asks, jobs=jobs, progress=progress)]
        fitted, left = _mean(each[: len(kept)]), _mean(each[len(kept) :])
        rows += (
            _residual(replace(one, looked_at=True), fitted[one.key], left[one.key])
            for one in _numbers({name: of})
        )
    answers = {name: document.answers[name] for name in document.searches}
    return CrossValidation(document.name, _parameters(answers), tuple(rows))


def _answers(document: Document) -> dict[str, Answer]:
    return {
        name: of for name, of in document.answers.items() if name in measurements() and not of.hours
    }


def _numbers(answers: Mapping[str, Answer]) -> Iterator[_Number]:
    for name in answers:
        known = measurement(name)
        for key, value in known.value.items():
            yield _Number(
                name, key, value, kind_of(name, key), configuration_of(name, key),
                fits=not known.never_fitted, looked_at=known.looked_at(key),
            )  # fmt: skip


def _residual(of: _Number, fitted: float, left_out: float) -> Residual:
    return Residual(
        id=of.id, key=of.key, kind=of.kind, configuration=of.configuration, measured=of.measured,
        fitted=fitted, left_out=left_out, looked_at=of.looked_at,
    )  # fmt: skip


def _parameters(answers: Mapping[str, Answer]) -> tuple[Varied, ...]:
    """What is calibrated in any of the systems that were measured."""
    systems = {
        (case.scenario, case.tunings): case for of in answers.values() for case in of.cases.values()
    }
    found: dict[str, Varied] = {}
    for case in systems.values():
        for one in ranged(Member(case).effective(), ("calibrated",)):
            found.setdefault(one.name, one)
    return tuple(found[name] for name in sorted(found))


def _scaled(of: Varied) -> float:
    return (of.value - of.low) / (of.high - of.low)


Values: TypeAlias = Mapping[str, int]
ByID: TypeAlias = dict[str, dict[str, float]]


@dataclass(frozen=True)
class _Runs:
    """The simulations behind a cross-validation."""

    answers: Mapping[str, Answer]
    parameters: Sequence[Varied]
    seeds: tuple[int, ...]
    jobs: int | None
    progress: Progress | None

    def as_they_are(self, numbers: Sequence[_Number]) -> Iterator[Residual]:
        """What is predicted of each number with the parameters as they are."""
        best = self._predicted(dict.fromkeys(one.id for one in numbers))
        for one in numbers:
            predicted = best[one.id][one.key]
            yield _residual(one, predicted, predicted)

    def linearised(self, numbers: Sequence[_Number]) -> tuple[list[float], Vector]:
        """What is predicted of each number, and how it moves when a parameter crosses its range."""
        points: list[Values] = [{}]
        steps = []
        for one in self.parameters:
            span = one.high - one.low
            way = 1 if one.high - one.value >= one.value - one.low else -1
            value = one.value + way * max(round(_STEP * span), 1)
            points.append({one.name: value})
            steps.append((value - one.value) / span)
        best = self._predicted(self.answers)
        predicted = [best[one.id][one.key] for one in numbers]
        base, *moved = self._simulated(points)
        columns = [
            [log_factor(there[n.id][n.key], base[n.id][n.key], n.kind) / step for n in numbers]
            for there, step in zip(moved, steps, strict=True)
        ]
        return predicted, np.array(columns).T.reshape(len(numbers), len(columns))

    def confirmed(self, numbers: Sequence[_Number], changes: Mapping[str, Vector]) -> list[float]:
        """How far each number moves when it is simulated with what was fitted without it."""
        points = [{}, *(self._values(change) for change in changes.values())]
        base, *drawn = self._simulated(points)
        there = dict(zip(changes, drawn, strict=True))
        return [
            log_factor(there[n.configuration][n.id][n.key], base[n.id][n.key], n.kind)
            for n in numbers
        ]

    def _values(self, change: Vector) -> Values:
        return {
            one.name: min(
                max(one.value + round(float(part) * (one.high - one.low)), one.low), one.high
            )
            for one, part in zip(self.parameters, change, strict=True)
        }

    def _predicted(self, names: Iterable[str]) -> ByID:
        """The numbers by id, with the parameters as they are."""
        answers = {name: self.answers[name] for name in names}
        asks = [Simulations(of, 0).asks[0] for of in answers.values()]
        done = simulated(asks, jobs=self.jobs, progress=self.progress)
        return {
            name: of.numbers(one) for (name, of), one in zip(answers.items(), done, strict=True)
        }

    def _simulated(self, points: Sequence[Values]) -> list[ByID]:
        """The numbers by id, at each point: means over the seeds, of short runs."""
        places = [(point, name) for point in points for name in self.answers]
        asks = [
            Ask(self.answers[name].shortened, _member(self.answers[name], seed, point))
            for point, name in places
            for seed in self.seeds
        ]
        done = iter(simulated(asks, jobs=self.jobs, progress=self.progress))
        means = iter(
            [
                _mean([self.answers[name].numbers(next(done)) for _ in self.seeds])
                for _, name in places
            ]
        )
        return [{name: next(means) for name in self.answers} for _ in points]


def _mean(numbers: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {key: sum(one[key] for one in numbers) / len(numbers) for key in numbers[0]}


def _member(of: Answer, seed: int, point: Values) -> Callable[[Case], Member]:
    """A simulation as a member's, with those of the values that its case knows."""
    _, duration, warm_up = of.times or MEMBER_TIMES

    def member(case: Case) -> Member:
        known = _names(case) if point else frozenset()
        values = tuple(sorted((name, value) for name, value in point.items() if name in known))
        return Member(case, seed, duration, warm_up, values)

    return member


@lru_cache(maxsize=_MOST_KNOWN)
def _names(case: Case) -> frozenset[str]:
    return frozenset(uncertain_parameters(Member(case).effective()))
