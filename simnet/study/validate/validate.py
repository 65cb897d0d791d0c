"""Predicted against measured: `simnet validate`.

One row a number: the prediction, its 95 % interval (sampling noise and the ranges of parameters
that are assumed or fitted, see `ensemble`), the measured value and what it may be used for. Every
case is simulated once, whichever and however many of the requested ids need it.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, TypeAdapter

import simnet
from simnet.study.calibrate.listing import Gate
from simnet.study.run.arguments import count_of, names_of, text_of
from simnet.study.run.result import Result
from simnet.study.validate.asking import simulated
from simnet.study.validate.conformance import CONFORMANCE, Conforming
from simnet.study.validate.document import answer, answers, documents, kind_of
from simnet.study.validate.intervals import hull, parameters
from simnet.study.validate.measurements import Use, measurements, wanted
from simnet.study.validate.members import Numbers, Simulations, consistent
from simnet.study.validate.predictions import Frozen, FrozenRow, predictions, today
from simnet.study.work.cases import Case, Progress

MEMBERS = 24


class Row(BaseModel):
    """One number; `measured` is null when it is not known."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    key: str
    predicted: float
    low: float
    high: float
    measured: float | None
    use: Use

    @property
    def error(self) -> float | None:
        """Relative error of the prediction; None without a measured number or when it is 0."""
        return self.predicted / self.measured - 1 if self.measured else None


_ROWS = TypeAdapter(list[Row])


@dataclass(frozen=True)
class Validation:
    """Rows by id and key, the conditions that were checked, and the results behind them.

    `conformance` has the rows that hold TCP against a real kernel, not a system against a document.
    """

    rows: tuple[Row, ...]
    gates: tuple[Gate, ...]
    results: Mapping[Case, Result]
    conformance: tuple[Row, ...] = ()

    def to_json(self, *, indent: int | None = 2) -> str:
        """The rows as `simnet validate --json` prints them."""
        return _ROWS.dump_json([*self.rows, *self.conformance], indent=indent).decode()

    def earlier(self) -> dict[tuple[str, str], tuple[str, FrozenRow]]:
        """File name and row of the newest frozen prediction, by id and key, where there is one."""
        asked = {(row.id, row.key) for row in self.rows}
        return {
            (row.id, row.key): (name, row)
            for name, frozen in predictions().items()
            for row in frozen.rows
            if (row.id, row.key) in asked
        }

    def frozen(self, stage: str) -> Frozen:
        """Today's predictions as a record for `predictions.freeze`; see there for `stage`."""
        names = ("id", "key", "predicted", "low", "high")
        rows = tuple(FrozenRow(**row.model_dump(include=set(names))) for row in self.rows)
        return Frozen(date=today(), version=simnet.__version__, stage=stage, rows=rows)


def validate(
    ids: str | Sequence[str] = (),
    *,
    members: int = MEMBERS,
    duration: str | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Validation:
    """Predict the numbers of the given measurements; by default of all that take no hours.

    Args:
        ids: of measurements; one may be a pattern, such as `x460.table1.*`.
        members: the size of the ensemble behind the intervals; 0 for none.
        duration: simulated time of the prediction itself; see `members` when None.
        jobs: number of processes, one a CPU when None.
        progress: called with the simulations done and in all.

    Raises:
        InputError: an id that is not known.
    """
    those = named(names_of(ids, "ids"))
    count_of(members, "--members")
    chosen = text_of(duration, "--duration")
    asked = {name: answer(name, CONFORMANCE) for name in those if name not in CONFORMANCE}
    fitted = [anchor.id for of in asked.values() for anchor in of.anchors] if members else []
    work = {name: Simulations(of, members, chosen) for name, of in asked.items()}
    beside = {name: Simulations(answer(name), members) for name in fitted if name not in work}
    asks = {name: one.asks for name, one in work.items()}
    asks |= {name: one.ensemble for name, one in beside.items()}
    each = [ask for of in asks.values() for ask in of]
    done = iter(simulated(each, jobs=jobs, progress=progress))
    results = {name: [next(done) for _ in of] for name, of in asks.items()}
    numbers = {
        name: one.numbers(results[name] if name in work else [results[name][0], *results[name]])
        for name, one in (work | beside).items()
    }
    rows = [row for name in asked for row in _rows(name, numbers)]
    best = {
        case: results[name][0][label]
        for name, of in asked.items()
        for label, case in of.cases.items()
        if label in results[name][0]
    }
    gates = _listing_gates(best)
    conforming = {name: CONFORMANCE[name]() for name in those if name in CONFORMANCE}
    gates += [gate for found in conforming.values() for gate in found.gates]
    return Validation(tuple(rows), tuple(gates), best, _conformance(conforming))


def _conformance(conforming: Mapping[str, Conforming]) -> tuple[Row, ...]:
    return tuple(
        Row(id=name, key=key, use="predict", **vars(number))
        for name, found in conforming.items()
        for key, number in found.numbers.items()
    )


def _listing_gates(results: Mapping[Case, Result]) -> list[Gate]:
    """The conditions of the listings whose cases were simulated."""
    listings = [listing for document in documents() for listing in document.listings]
    return [
        gate
        for listing in listings
        if listing.case in results
        for gate in listing.gates(listing.beside(results[listing.case]))
    ]


def _rows(name: str, numbers: Mapping[str, Numbers]) -> list[Row]:
    of = answer(name)
    measured, use = _asked(name)
    predicted, _, members = numbers[name]
    moved = consistent(name, of, numbers) if members else []
    rows = []
    for key, value in measured.items():
        low, high = hull(predicted[key], [parameters([m[key] for m in moved])], kind_of(name, key))
        rows.append(
            Row(
                id=name,
                key=key,
                predicted=predicted[key],
                low=low,
                high=min(high, max(of.most, predicted[key])),
                measured=value,
                use=use,
            )
        )
    return rows


def _asked(name: str) -> tuple[Mapping[str, float | None], Use]:
    """The measured numbers by key, None where they are not known, and what they are for."""
    asked = dict.fromkeys(wanted()[name].keys) if name in wanted() else {}
    if name not in measurements():
        return asked, "blind"
    known = measurements()[name]
    return {**asked, **known.value}, known.role


def named(ids: Sequence[str]) -> list[str]:
    """The ids that are meant, patterns expanded; all that takes minutes where none is given."""
    found = []
    known = [*answers(), *CONFORMANCE]
    brief = [name for name in known if name in CONFORMANCE or not answers()[name].hours]
    for name in ids or brief:
        matching = fnmatch.filter(known, name) if "*" in name else []
        found += matching or [name]
    return list(dict.fromkeys(found))
