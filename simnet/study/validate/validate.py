"""Predicted against measured: `simnet validate`.

One row a number: the prediction, its 95 % interval (sampling noise and the ranges of parameters
that are assumed or fitted, see `ensemble`), the measured value and what it may be used for. Every
case is simulated once, whichever and however many of the requested ids need it.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, ConfigDict, TypeAdapter

import simnet
from simnet.study.calibrate.listing import Gate
from simnet.study.run.arguments import count_of, names_of, text_of
from simnet.study.run.result import Result
from simnet.study.validate.conformance import CONFORMANCE, Conforming
from simnet.study.validate.document import Anchored, Answer, answer, answers, documents
from simnet.study.validate.measurements import Use, measurement, measurements, wanted
from simnet.study.validate.predictions import Frozen, FrozenRow, predictions, today
from simnet.study.work.cases import (
    Case,
    Draw,
    Member,
    Progress,
    runs_to_completion,
    simulate_all,
    uncertain,
)
from simnet.study.work.ensemble import Anchor, condition, intervals, latin_hypercube

MEMBERS = 48
# members of an answer with many cases, such as a mean over message sizes: one of so many
_SWEEP_SHARE = 4
DURATION = "2 s"
# where a number is a mean over many runs, each of them
PRECISION = "1 %"
LONGEST = "5 s"
MEMBER_DURATION = "300 ms"
MEMBER_WARM_UP = "200 ms"


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
    """Predict the numbers of the given measurements, all that can be answered by default.

    `members` is the size of the ensemble behind the intervals (0: no interval), `duration` the
    simulated time of the prediction itself (None: 2 s, and for means over many runs as long as
    1 % needs of each), `jobs` the number of processes. `progress` is called with the simulations
    done and in all. Raises InputError for an id that is not known. An id may be a pattern, such as
    `x460.table1.*`.
    """
    named = _named(names_of(ids, "ids"))
    count_of(members, "--members")
    asked = {name: answer(name, CONFORMANCE) for name in named if name not in CONFORMANCE}
    cases = list(dict.fromkeys(case for a in asked.values() for case in a.cases.values()))
    sizes = _sizes(asked, members)
    alone = {c for a in asked.values() if len(a.cases) == 1 for c in a.cases.values()}
    of = _owners()
    chosen = text_of(duration, "--duration")
    work = [_prediction(case, of[case], chosen, alone=case in alone) for case in cases]
    work += [
        member
        for case, size in sizes.items()
        for member in _ensemble(case, of[case], members)[:size]
    ]
    results = iter(simulate_all(work, jobs=jobs, progress=progress, lean=True))
    best = {case: next(results) for case in cases}
    spread = {case: [next(results) for _ in range(size)] for case, size in sizes.items()}
    rows = [row for name in asked for row in _rows(name, best, spread)]
    gates = _listing_gates(best)
    conforming = {name: CONFORMANCE[name]() for name in named if name in CONFORMANCE}
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


def _sizes(asked: Mapping[str, Answer], members: int) -> dict[Case, int]:
    """How many members of each case are simulated: fewer where an answer takes many cases."""
    if not members:
        return {}
    fitted = {anchor.id for of in asked.values() for anchor in of.anchors}
    sizes = {case: members for name in sorted(fitted) for case in answer(name).cases.values()}
    for of in asked.values():
        size = members if len(of.cases) == 1 else -(-members // _SWEEP_SHARE)
        if of.ensemble:
            size = min(members, len(of.ensemble()))
        for case in of.cases.values():
            sizes[case] = max(size, sizes.get(case, 0))
    return sizes


def _owners() -> dict[Case, Answer]:
    """An answer that each case belongs to: it says how long to simulate it, and with what draws."""
    return {case: of for of in answers().values() for case in of.cases.values()}


def _prediction(case: Case, of: Answer, duration: str | None, *, alone: bool) -> Member:
    if runs_to_completion(case):
        return Member(case)
    duration = duration or (of.times[0] if of.times else None)
    if duration or alone:
        return Member(case, duration=duration or DURATION)
    return Member(case, duration=LONGEST, precision=PRECISION)


def _ensemble(case: Case, of: Answer, members: int) -> list[Member]:
    if of.ensemble:
        return [draw.member(case) for draw in of.ensemble()[:members]]
    _, duration, warm_up = of.times or ("", MEMBER_DURATION, MEMBER_WARM_UP)
    points = latin_hypercube(uncertain(case), members) if members else []
    draws = [Draw(1000 + number, point) for number, point in enumerate(points)]
    return [replace(draw.member(case), duration=duration, warm_up=warm_up) for draw in draws]


def _rows(
    name: str, best: Mapping[Case, Result], spread: Mapping[Case, Sequence[Result]]
) -> list[Row]:
    measured, use = _asked(name)
    predicted = _numbers(name, best)
    known = {key: predicted[key] for key in measured}
    fitted = answer(name).anchors
    needed = [c for known in (name, *(a.id for a in fitted)) for c in answer(known).cases.values()]
    size = min((len(spread.get(case, ())) for case in needed), default=0)
    by_member = [{case: spread[case][number] for case in needed} for number in range(size)]
    conditioned = condition(
        [_numbers(name, results) for results in by_member],
        [_at_anchors(fitted, results) for results in by_member],
        {
            f"{anchor.id}:{key}": Anchor(value, anchor.error * value)
            for anchor in fitted
            for key, value in measurement(anchor.id).value.items()
            if key in anchor.keys
        },
    )
    most = answer(name).most
    ranges = {
        key: (low, min(high, most)) for key, (low, high) in intervals(known, conditioned).items()
    }
    return [
        Row(
            id=name,
            key=key,
            predicted=predicted[key],
            low=ranges[key][0],
            high=ranges[key][1],
            measured=value,
            use=use,
        )
        for key, value in measured.items()
    ]


def _at_anchors(fitted: Sequence[Anchored], results: Mapping[Case, Result]) -> dict[str, float]:
    return {
        f"{anchor.id}:{key}": value
        for anchor in fitted
        for key, value in _numbers(anchor.id, results).items()
        if key in anchor.keys
    }


def _asked(name: str) -> tuple[Mapping[str, float | None], Use]:
    """The measured numbers by key, None where they are not known, and what they are for."""
    asked = dict.fromkeys(wanted()[name].keys) if name in wanted() else {}
    if name not in measurements():
        return asked, "blind"
    known = measurements()[name]
    return {**asked, **known.value}, known.role


def _named(ids: Sequence[str]) -> list[str]:
    """The ids that are meant, patterns expanded; all that can be answered where none is given."""
    found = []
    known = [*answers(), *CONFORMANCE]
    for name in ids or known:
        matching = fnmatch.filter(known, name) if "*" in name else []
        found += matching or [name]
    return list(dict.fromkeys(found))


def _numbers(name: str, results: Mapping[Case, Result]) -> dict[str, float]:
    of = answer(name)
    return of.numbers({label: results[case] for label, case in of.cases.items()})
