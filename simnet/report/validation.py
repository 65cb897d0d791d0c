"""Predicted against measured as a table, and whether the conditions are met."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.report.columns import columns

if TYPE_CHECKING:
    from simnet.study.validate.predictions import FrozenRow
    from simnet.study.validate.record import Record, Score
    from simnet.study.validate.validate import Row, Validation

_LARGE = 10.0
_HEADING = ("id", "key", "measured", "predicted", "error", "low", "high", "in 95 %", "use")


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
    gates = [f"{'met ' if gate.passed else 'MISSED'}  {gate.sentence}" for gate in found.gates]
    return table + ("\n" + "\n".join(gates) + "\n" if gates else "")


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


def _cells(row: Row) -> tuple[str, ...]:
    inside = "" if row.measured is None else "yes" if row.low <= row.measured <= row.high else "no"
    return (
        row.id,
        row.key,
        "-" if row.measured is None else _number(row.measured),
        _number(row.predicted),
        "-" if row.error is None else f"{row.error:+.1%}",
        _number(row.low),
        _number(row.high),
        inside,
        row.use,
    )


def _frozen(kept: tuple[str, FrozenRow] | None) -> tuple[str, ...]:
    if kept is None:
        return ("-", "-", "-")
    row = kept[1]
    return (_number(row.predicted), _number(row.low), _number(row.high))


def _number(value: float) -> str:
    return f"{value:.2f}" if abs(value) >= _LARGE else f"{value:.3f}"
