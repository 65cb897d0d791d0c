"""A prediction beside measurements for reading: a row a metric, then what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.printable import printable, titled
from simnet.report.columns import columns
from simnet.study.validate.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.study.compare.compare import Comparison
    from simnet.study.compare.row import Row


def comparison(found: Comparison, *, every: bool = False) -> str:
    """The table and its meaning; single CPUs that are inside only if `every`."""
    rows = [row for row in found.rows if every or not row.inside or not of_one_cpu(row)]
    outside = sum(not row.inside for row in found.rows)
    what = "Predicted and measured change of" if found.before else "Prediction and measurement of"
    names = ("predicted", "95 % interval", "measured", "difference", "")
    parts = [
        f"{what} {titled(found.scenario, found.tunings, ())}",
        columns(
            ("metric", *(("before",) if found.before else ()), *names), [cells(row) for row in rows]
        ).rstrip("\n"),
    ]
    if len(rows) < len(found.rows):
        parts.append(f"# {len(found.rows) - len(rows)} metrics of single CPUs are inside")
    verdict = "No difference proven at 95 % confidence"
    if outside:
        verdict = f"Difference at 95 % confidence: {outside} of {len(found.rows)} metrics"
    parts += ["", verdict, *_says(found)]
    return "\n".join(parts) + "\n"


def of_one_cpu(row: Row) -> bool:
    """Whether a metric is of a single CPU."""
    return row.metric.startswith("cpu.") and not row.metric.startswith("cpu.all.")


def cells(row: Row) -> tuple[str, ...]:
    """A row of the table."""
    spread = "" if row.captures == 1 else f" +/- {_number(row.measured_high - row.measured)}"
    relative = "" if row.percent is None or KINDS.get(row.kind) else f" ({row.percent:+.1f} %)"
    return (
        row.metric,
        *(() if row.before is None else (_number(row.before),)),
        _number(row.predicted),
        f"{_number(row.low)} to {_number(row.high)}",
        f"{_number(row.measured)}{spread}",
        f"{_number(row.difference, sign='+')}{relative}",
        "inside" if row.inside else "OUTSIDE",
    )


def _number(value: float, sign: str = "") -> str:
    large = abs(value) >= 10_000  # noqa: PLR2004 - digits enough
    return f"{value:{sign},.0f}" if large else f"{value:{sign}.4g}"


def _says(found: Comparison) -> Iterator[str]:
    yield from (f"- {printable(one)}" for one in found.says)
