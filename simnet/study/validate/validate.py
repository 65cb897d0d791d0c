"""Predicted against measured: `simnet validate`.

One row a number: the prediction, its 95 % interval (see `intervals`), the measured value, and what
that was used for. Equal simulations are done once, however many of the requested ids need them.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, TypeAdapter

import simnet
from simnet.study.calibrate.listing import Gate
from simnet.study.calibrate.stages import stage_keys
from simnet.study.run.arguments import count_of, names_of, text_of
from simnet.study.run.result import Result
from simnet.study.validate.asking import simulated
from simnet.study.validate.conformance import CONFORMANCE, Conforming
from simnet.study.validate.document import (
    answer,
    answers,
    configuration_of,
    documents,
    kind_of,
)
from simnet.study.validate.intervals import discrepancy, hull, parameters
from simnet.study.validate.measurements import Use, measurement, measurements, wanted
from simnet.study.validate.members import Numbers, Simulations, consistent
from simnet.study.validate.predictions import Frozen, FrozenRow, predictions, today
from simnet.study.validate.residuals import residuals
from simnet.study.work.cases import Case, Progress

MEMBERS = 24
Status: TypeAlias = Literal["fitted", "left out", "blind"]


class Row(BaseModel):
    """One number; `measured` is null when it is not known.

    Attributes:
        use: what the measurement may be used for.
        status: whether the parameters were fitted to the number; it was left out of the fits; or it
            is blind: not measured.
        left_out: what was predicted of it when its configuration was left out of the fit.
        left_out_inside: whether that was inside its interval; null where nothing was left out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    key: str
    predicted: float
    low: float
    high: float
    measured: float | None
    use: Use
    status: Status = "left out"
    left_out: float | None = None
    left_out_inside: bool | None = None

    @property
    def error(self) -> float | None:
        """Relative error of the prediction; None without a measured number or when it is 0."""
        return self.predicted / self.measured - 1 if self.measured else None

    @property
    def covered(self) -> bool | None:
        """Whether the measured number lies inside the interval; None where there is none."""
        return None if self.measured is None else self.low <= self.measured <= self.high


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
    """Predict the numbers of the given measurements; by default see `by_name_only`.

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
    known = {(one.id, one.key): one for one in residuals()}
    rows = []
    for key, value in measured.items():
        kind, left = kind_of(name, key), known.get((name, key))
        model = discrepancy(kind, residuals(), configuration_of(name, key))
        parts = [parameters([member[key] for member in moved]), (-model, model)]
        low, high = hull(predicted[key], parts, kind)
        rows.append(
            Row(
                id=name,
                key=key,
                predicted=predicted[key],
                low=low,
                high=min(high, max(of.most, predicted[key])),
                measured=value,
                use=use,
                status=_status(name, key, value),
                left_out=None if left is None else left.left_out,
                left_out_inside=None if left is None else abs(left.log) <= model,
            )
        )
    return rows


def _status(name: str, key: str, measured: float | None) -> Status:
    if measured is None:
        return "blind"
    known = measurement(name)
    fitted = stage_keys(name) | {
        one for of in answers().values() for anchor in of.anchors if anchor.id == name
        for one in anchor.keys
    }  # fmt: skip
    if answers()[name].fitted or (not fitted and known.use == "calibrate"):
        fitted = set(known.value)
    return "fitted" if key in fitted else "left out"


def _asked(name: str) -> tuple[Mapping[str, float | None], Use]:
    """The measured numbers by key, None where they are not known, and what they are for."""
    asked = dict.fromkeys(wanted()[name].keys) if name in wanted() else {}
    if name not in measurements():
        return asked, "blind"
    known = measurements()[name]
    return {**asked, **known.value}, known.role


def named(ids: Sequence[str]) -> list[str]:
    """The ids that are meant, patterns expanded; where none is given, all but `by_name_only`."""
    found = []
    known = [*answers(), *CONFORMANCE]
    aside = frozenset() if ids else frozenset(by_name_only())
    for name in ids or [one for one in known if one not in aside]:
        matching = fnmatch.filter(known, name) if "*" in name else []
        found += matching or [name]
    return list(dict.fromkeys(found))


def by_name_only() -> list[str]:
    """The ids that are simulated only when named: they take hours, or nothing was measured yet."""
    return [name for name, of in answers().items() if of.hours or name not in measurements()]
