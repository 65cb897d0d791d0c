"""The report of a validation: each predicted number beside the measured one."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING, Final

from pydantic import TypeAdapter

from simnet.report.html.blocks import Part, Section, Table, Verdict
from simnet.report.html.kinds import Kind, each
from simnet.report.html.repeat import repeat_section
from simnet.report.html.svg import picture
from simnet.study.validate.validate import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_DRAWN: Final = 80
_ROWS: Final = TypeAdapter(tuple[Row, ...])


def _part(name: str, file: str, rows: tuple[Row, ...]) -> Part:
    known = [row for row in rows if row.covered is not None]
    unseen = [row for row in known if row.status != "fitted"]
    verdicts = [_verdict("numbers that no fit had seen", unseen), _verdict("all numbers", known)]
    cells = tuple(
        (
            row.id, row.key, f"{row.predicted:.6g}", f"{row.low:.6g} to {row.high:.6g}",
            "-" if row.measured is None else f"{row.measured:.6g}",
            "-" if row.error is None else f"{100 * row.error:+.1f} %",
            {True: "inside", False: "outside", None: "-"}[row.covered], row.status,
        )
        for row in rows
    )  # fmt: skip
    heading = ("id", "key", "predicted", "95 %", "measured", "error", "interval", "status")
    drawn = [row for row in known if row.measured][:_MOST_DRAWN]
    sentence = f"{sum(map(_inside, drawn))} of {len(drawn)} numbers lie inside their interval"
    pictures = [
        picture(
            f"{name}-rows", lambda: _figure(drawn), "Predicted over measured; 1 is right", sentence
        )
    ]
    ids = list(dict.fromkeys(row.id for row in rows))
    return Part(
        "How far off are the predictions?",
        [one for one in verdicts if one],
        [
            Section(
                "Every number", [*(pictures if drawn else []), Table("Rows", heading, cells, 2)]
            ),
            repeat_section("validate", None, ids, file=file),
        ],
    )


def _verdict(which: str, rows: Sequence[Row]) -> Verdict | None:
    """How many of some rows lie inside, and how far off the median one is."""
    errors = [abs(row.error) for row in rows if row.error is not None]
    if not errors:
        return None
    inside = sum(map(_inside, rows))
    return Verdict(
        f"{inside} of {len(rows)} inside the 95 % interval",
        f"{which}: median error {median(errors):.1%}",
    )


def _inside(row: Row) -> bool:
    return bool(row.covered)


def _figure(rows: Sequence[Row]) -> Figure:
    from simnet.study.figures.record import ratios

    return ratios(rows, "")


KIND: Final = Kind(
    "validate",
    lambda tree: isinstance(tree, list) and bool(tree),
    _ROWS.validate_json,
    each("validate", _part),
)
