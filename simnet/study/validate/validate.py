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
from simnet._share import folder
from simnet.errors import InputError
from simnet.study.calibrate.capture import read_capture
from simnet.study.calibrate.listing import (
    Comparison,
    Gate,
    closeness_gates,
    compare,
    remote_gate,
    sibling_gate,
)
from simnet.study.run.arguments import count_of, names_of, text_of
from simnet.study.run.result import Result
from simnet.study.sas_ensemble import kept
from simnet.study.validate.answers import ANSWERS, LISTING_1, Anchored, Answer, anchors, answer
from simnet.study.validate.conformance import CONFORMANCE, Conforming
from simnet.study.validate.measurements import Use, measurement, measurements, wanted
from simnet.study.validate.predictions import Frozen, FrozenRow, predictions, today
from simnet.study.work.cases import Case, Member, Progress, ends_itself, simulate_all, uncertain
from simnet.study.work.ensemble import Anchor, condition, intervals, latin_hypercube

MEMBERS = 48
# members of an answer with many cases, such as a mean over message sizes: one of so many
_SWEEP_SHARE = 4
DURATION = "2 s"
# where a number is a mean over many runs, each of them
PRECISION = "1 %"
LONGEST = "5 s"
MEMBER_DURATION = "300 ms"
MEMBER_WARMUP = "200 ms"
_LISTING_1_WORKLOAD = {"nodes": 4, "message_bytes": 8192, "test": "netserver"}
_LISTING_1_CAPTURE = "sar-x460-out-of-box-8k-4nodes.txt"


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
    answers = {name: answer(name, CONFORMANCE) for name in named if name not in CONFORMANCE}
    cases = list(dict.fromkeys(case for a in answers.values() for case in a.cases.values()))
    sizes = _sizes(answers, members)
    alone = {c for a in answers.values() if len(a.cases) == 1 for c in a.cases.values()}
    times = _times()
    work = [
        _prediction(
            case, text_of(duration, "--duration") or times.get(case, ("",))[0], alone=case in alone
        )
        for case in cases
    ]
    work += [
        member
        for case, size in sizes.items()
        for member in _ensemble(case, members, times.get(case))[:size]
    ]
    results = iter(simulate_all(work, jobs=jobs, progress=progress, lean=True))
    best = {case: next(results) for case in cases}
    spread = {case: [next(results) for _ in range(size)] for case, size in sizes.items()}
    rows = [row for name in answers for row in _rows(name, best, spread)]
    gates = listing_1_gates(best[LISTING_1]) if LISTING_1 in best else []
    conforming = {name: CONFORMANCE[name]() for name in named if name in CONFORMANCE}
    gates += [gate for found in conforming.values() for gate in found.gates]
    return Validation(tuple(rows), tuple(gates), best, _conformance(conforming))


def _conformance(conforming: Mapping[str, Conforming]) -> tuple[Row, ...]:
    return tuple(
        Row(id=name, key=key, use="predict", **vars(number))
        for name, found in conforming.items()
        for key, number in found.numbers.items()
    )


def listing_1(result: Result) -> Comparison:
    """A result of the x460 out of the box beside Listing 1.

    Raises InputError when the result is of another setup than the listing's.
    """
    workload = result.configuration.get("workload", {})
    setup = {name: workload.get(name) for name in _LISTING_1_WORKLOAD}
    if result.scenario != LISTING_1.scenario or setup != _LISTING_1_WORKLOAD:
        settings = " and ".join("=".join(setting) for setting in LISTING_1.settings)
        expected = f"the listing was measured with {LISTING_1.scenario}, {settings}"
        raise InputError(expected, key="compare")
    return compare(result, read_capture(folder("validation") / "captures" / _LISTING_1_CAPTURE))


def listing_1_gates(result: Result) -> list[Gate]:
    """What a prediction of Listing 1 must meet: nearness, and two contrasts no constant has.

    CPUs 1, 4, 5 and 9 serve remote ports beside a busy SMT sibling, CPUs 2 and 6 beside an idle
    one; the listing's means differ by 13.1 points.
    """
    comparison = listing_1(result)
    return [
        *closeness_gates(comparison),
        sibling_gate(
            {cpu.id: cpu.busy for cpu in result.cpus},
            busy_sibling=(1, 4, 5, 9),
            idle_sibling=(2, 6),
            expected_points=13.0,
            tolerance_points=5.0,
        ),
        remote_gate(comparison, local_node=0),
    ]


def _sizes(answers: Mapping[str, Answer], members: int) -> dict[Case, int]:
    """How many members of each case are simulated: fewer where an answer takes many cases."""
    if not members:
        return {}
    fitted = {anchor.id for name in answers for anchor in anchors(name)}
    sizes = {case: members for name in sorted(fitted) for case in answer(name).cases.values()}
    for of in answers.values():
        size = members if len(of.cases) == 1 else -(-members // _SWEEP_SHARE)
        for case in of.cases.values():
            here = min(members, len(kept())) if ends_itself(case) else size
            sizes[case] = max(here, sizes.get(case, 0))
    return sizes


def _times() -> dict[Case, tuple[str, str, str]]:
    """How long to simulate the cases of answers that say so."""
    return {case: of.times for of in ANSWERS.values() if of.times for case in of.cases.values()}


def _prediction(case: Case, duration: str | None, *, alone: bool) -> Member:
    if ends_itself(case):
        return Member(case)
    if duration or alone:
        return Member(case, duration=duration or DURATION)
    return Member(case, duration=LONGEST, precision=PRECISION)


def _ensemble(case: Case, members: int, times: tuple[str, str, str] | None = None) -> list[Member]:
    if ends_itself(case):
        return [workload.member(case) for workload in kept()[:members]]
    points = latin_hypercube(uncertain(case), members) if members else []
    _, duration, warmup = times or ("", MEMBER_DURATION, MEMBER_WARMUP)
    return [
        Member(
            case,
            seed=1000 + number,
            duration=duration,
            warmup=warmup,
            values=tuple(sorted(point.items())),
        )
        for number, point in enumerate(points)
    ]


def _rows(
    name: str, best: Mapping[Case, Result], spread: Mapping[Case, Sequence[Result]]
) -> list[Row]:
    measured, use = _asked(name)
    predicted = _numbers(name, best)
    known = {key: predicted[key] for key in measured}
    fitted = anchors(name)
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
    if name in measurements():
        known = measurement(name)
        return known.value, known.role
    return dict.fromkeys(wanted()[name].keys), "blind"


def _named(ids: Sequence[str]) -> list[str]:
    """The ids that are meant, patterns expanded; all that can be answered where none is given."""
    found = []
    known = [*ANSWERS, *CONFORMANCE]
    for name in ids or known:
        matching = fnmatch.filter(known, name) if "*" in name else []
        found += matching or [name]
    return list(dict.fromkeys(found))


def _numbers(name: str, results: Mapping[Case, Result]) -> dict[str, float]:
    of = answer(name)
    return of.numbers({label: results[case] for label, case in of.cases.items()})
