"""What was left out of fits: each number measured, fitted and left out, and how far it is off."""

from __future__ import annotations

import json
from statistics import median
from typing import TYPE_CHECKING

from simnet.report.columns import columns
from simnet.study.validate.kinds import error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.study.calibrate.cross_validation import CrossValidation
    from simnet.study.validate.residuals import Residual

_LARGE = 10.0
_HEADING = ("id", "key", "kind", "measured", "fitted", "off", "left out", "off", "in 95 %")


def cross_validation(found: Sequence[CrossValidation]) -> str:
    """One line a number, then what was left out by document and kind."""
    rows = [_row(row, inside=of.inside(row)) for of in found for row in of.rows]
    table = columns(_HEADING, rows, left=3)
    groups = {of.document: [(row, of.inside(row)) for row in of.rows] for of in found}
    every = [pair for pairs in groups.values() for pair in pairs]
    kinds = {
        kind: [p for p in every if p[0].kind == kind]
        for kind in dict.fromkeys(row.kind for row, _ in every)
    }
    heading = ("left out", "numbers", "median error", "in 95 %")
    lines = [_summary(name, pairs) for name, pairs in (groups | kinds | {"all": every}).items()]
    return f"{table}\n{columns(heading, lines)}"


def as_json(found: Sequence[CrossValidation]) -> str:
    """A document `simnet.crossvalidation/1`: the residuals of each document, and a summary."""
    documents = [
        {
            **of.residuals.model_dump(mode="json", by_alias=True),
            "median_error": of.median_error,
            "coverage": of.coverage,
        }
        for of in found
    ]
    return json.dumps({"schema": "simnet.crossvalidation/1", "documents": documents}, indent=2)


def _summary(name: str, pairs: Sequence[tuple[Residual, bool]]) -> tuple[str, ...]:
    errors = [abs(off) for row, _ in pairs if (off := row.error) is not None]
    share = sum(inside for _, inside in pairs) / len(pairs)
    return (name, str(len(pairs)), f"{median(errors):.1%}", f"{share:.0%}")


def _row(row: Residual, *, inside: bool) -> tuple[str, ...]:
    return (
        row.id,
        row.key,
        row.kind,
        _number(row.measured),
        _number(row.fitted),
        _off(error(row.fitted, row.measured, row.kind)),
        _number(row.left_out),
        _off(row.error),
        "yes" if inside else "no",
    )


def _off(by: float | None) -> str:
    return "-" if by is None else f"{by:+.1%}"


def _number(value: float) -> str:
    return f"{value:.2f}" if abs(value) >= _LARGE else f"{value:.3f}"
