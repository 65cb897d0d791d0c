"""Predicted against measured as a table, and whether the conditions are met."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from simnet.report.columns import columns
from simnet.study.whatif.record import OUTCOMES
from simnet.study.whatif.verdict import end_text
from simnet.terminal import folded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.study.validate.compared import Register
    from simnet.study.validate.predictions import FrozenRow
    from simnet.study.validate.record import Record, Score
    from simnet.study.validate.validate import Row, Validation
    from simnet.study.whatif.record import ChangeRecord, ScoredChange

_LARGE = 10.0
_NEVER = "part of the path (measured numbers with it): its settings of which no change was compared"
_HEADING = ("id", "key", "measured", "predicted", "error", "low", "high", "in 95 %", "was")


def validation(found: Validation) -> str:
    """One line a number, those of TCP's conformance apart, then one a condition."""
    earlier = found.earlier()
    heading = list(_HEADING)
    rows = [_cells(row) for row in found.rows]
    if earlier:
        heading += ["frozen", "low", "high"]
        known = [earlier.get((row.id, row.key)) for row in found.rows]
        rows = [(*row, *_frozen(kept)) for row, kept in zip(rows, known, strict=True)]
    table = columns(heading, rows, left=2) if rows else ""
    table += "".join(
        f"# frozen: {name}\n" for name in sorted({name for name, _ in earlier.values()})
    )
    if found.conformance:
        table += "\n" if table else ""
        table += columns(_HEADING, [_cells(row) for row in found.conformance], left=2)
    table += _summary(found.rows)
    gates = [f"{'met ' if gate.passed else 'MISSED'}  {gate.sentence}" for gate in found.gates]
    return table + ("\n" + "\n".join(gates) + "\n" if gates else "")


def _summary(rows: Sequence[Row]) -> str:
    """Median error and coverage, of what was not fitted and of what was left out in turn."""
    free = [row for row in rows if row.status == "left out"]
    turned = [row for row in rows if row.left_out is not None]
    groups = {
        "not fitted": [(row.error, row.covered) for row in free],
        "left out of the fit in turn": [
            (row.left_out / row.measured - 1 if row.measured else None, row.left_out_inside)
            for row in turned
            if row.left_out is not None
        ],
    }
    lines = [
        (
            name,
            str(len(pairs)),
            f"{median(errors):.1%}"
            if (errors := [abs(e) for e, _ in pairs if e is not None])
            else "-",
            f"{sum(bool(inside) for _, inside in pairs) / len(pairs):.0%}",
        )
        for name, pairs in groups.items()
        if pairs
    ]
    if not lines:
        return ""
    return "\n" + columns(("numbers", "of them", "median error", "in 95 %"), lines)


def scored(found: Record) -> str:
    """One line a number, by its newest prediction, and one a system."""
    heading = ("id", "key", "measured", "predicted", "error", "low", "high", "in 95 %")
    table = columns(heading, [_score(score) for score in found.last()], left=2)
    systems = [
        (
            system,
            str(len((of := found.of(system)).last())),
            f"{of.median_error:.1%}",
            f"{of.coverage:.0%}",
        )
        for system in found.systems
    ]
    total = ("all", str(len(found.last())), f"{found.median_error:.1%}", f"{found.coverage:.0%}")
    heads = ("system", "numbers", "median error", "in 95 %")
    return f"{table}\n{columns(heads, [*systems, total])}"


def _score(score: Score) -> tuple[str, ...]:
    return (
        score.id,
        score.key,
        _number(score.measured),
        _number(score.predicted),
        "-" if score.error is None else f"{score.error:+.1%}",
        _number(score.low),
        _number(score.high),
        "yes" if score.covered else "no",
    )


def scored_changes(found: ChangeRecord) -> str:
    """One line a change that was not as it was said to be, and one a system."""
    table = ""
    if found.count("wrong"):
        heading = ("from", "to", "key", "measured", "predicted", "low", "high", "in 95 %")
        wrong = [_change(one) for one in found.changes if one.outcome == "wrong"]
        table = f"not as predicted\n{columns(heading, wrong, left=3)}\n"
    heads = ("system", "changes", *OUTCOMES, "right of those told", "in 95 %")
    rows = [_counted(system, found.of(system)) for system in found.systems]
    rows += [_counted("all", found)]
    if 0 < len(found.unseen.changes) < len(found.changes):
        rows += [_counted("not seen before", found.unseen)]
    return table + columns(heads, rows)


def registered(found: Register) -> str:
    """One line a setting that was compared, and one a part of the path with what never was."""
    rows = [
        (one.setting, *map(str, (one.changes, one.alone)), *map(_factor, (one.usual, one.worst)))
        for one in found.settings
    ]
    table = columns(("setting", "changes", "alone", "usually off by", "at most"), rows)
    lines = [
        f"{one.part} ({one.numbers} numbers): {', '.join(one.never_compared) or 'none'}\n"
        for one in found.parts
    ]
    return f"{table}\n{_NEVER}\n{folded(''.join(lines))}"


def _factor(number: float) -> str:
    return f"{number:.2f}"


def _change(one: ScoredChange) -> tuple[str, ...]:
    numbers = (one.measured, one.predicted, one.low, one.high)
    return (
        one.before,
        one.after,
        one.key,
        *(end_text(number, " %") for number in numbers),
        "yes" if one.covered else "no",
    )


def _counted(name: str, found: ChangeRecord) -> tuple[str, ...]:
    counts = [found.count(outcome) for outcome in OUTCOMES]
    right, _, wrong = counts
    told = f"{right / (right + wrong):.0%}" if right + wrong else "-"
    coverage = f"{found.coverage:.0%}"
    return (name, str(len(found.changes)), *map(str, counts), told, coverage)


def _cells(row: Row) -> tuple[str, ...]:
    inside = {None: "", True: "yes", False: "no"}[row.covered]
    return (
        row.id,
        row.key,
        "-" if row.measured is None else _number(row.measured),
        _number(row.predicted),
        "-" if row.error is None else f"{row.error:+.1%}",
        _number(row.low),
        _number(row.high),
        inside,
        row.status,
    )


def _frozen(kept: tuple[str, FrozenRow] | None) -> tuple[str, ...]:
    if kept is None:
        return ("-", "-", "-")
    row = kept[1]
    return (_number(row.predicted), _number(row.low), _number(row.high))


def _number(value: float) -> str:
    return f"{value:.2f}" if abs(value) >= _LARGE else f"{value:.3f}"
