"""The report of a comparison: what tools showed on the real host, drawn over the prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from simnet.printable import few, titled
from simnet.report.html.blocks import Block, Notes, Part, Section, Table, Verdict
from simnet.report.html.kinds import Kind, each, has_schema
from simnet.report.html.repeat import repeat_section
from simnet.report.html.svg import picture
from simnet.report.measured.comparison import cells, of_one_cpu
from simnet.study.compare.compare import SCHEMA, Comparison
from simnet.study.compare.row import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_DRAWN: Final = 60
_HEADING: Final = ("metric", "predicted", "95 % interval", "measured", "difference", "")


class _Drawn(NamedTuple):
    """A row as the picture takes it: its title is the metric alone."""

    id: str
    key: str
    predicted: float
    low: float
    high: float
    measured: float
    covered: bool


def _part(name: str, file: str, found: Comparison) -> Part:
    outside = [row for row in found.rows if not row.inside]
    if found.exit_status == 3:  # noqa: PLR2004 (as everywhere: it cannot be told)
        verdict = Verdict("Cannot tell", "the prediction itself is not conclusive.", "open")
    elif outside:
        metrics = few([row.metric for row in outside])
        answer = f"{len(outside)} of {len(found.rows)} metrics are not as predicted"
        verdict = Verdict(answer, f"{metrics}, at 95 % confidence.", "bad")
    else:
        metrics = f"{len(found.rows)} metrics: no difference is proven at 95 % confidence."
        verdict = Verdict("As predicted", metrics, "good")
    whole = [row for row in found.rows if not of_one_cpu(row)]
    single = [row for row in found.rows if of_one_cpu(row)]
    drawn = _drawable([*whole, *single])[:_MOST_DRAWN]
    blocks: list[Block] = []
    if drawn:
        inside = sum(one.covered for one in drawn)
        said = f"{inside} of {len(drawn)} measured numbers lie inside the predicted interval"
        caption = "Predicted over measured; 1 is right, the bar is the 95 % interval"
        blocks.append(picture(f"{name}-rows", lambda: _figure(drawn), caption, said))
    heading = (*_HEADING[:1], "before", *_HEADING[1:]) if found.before else _HEADING
    for caption, rows in (("Metrics", whole), ("Of single CPUs", single)):
        if rows:
            shown = tuple(cells(row) for row in rows)
            blocks.append(Table(caption, heading, shown, folded=rows is single))
    notes = [Notes(found.says, caption="What that says")] if found.says else []
    words = ["PREDICTION.json", *found.captures]
    words += [word for one in found.before for word in ("--before", one)]
    what = "the change" if found.before else "the prediction"
    title = titled(found.scenario, found.tunings, sorted(found.settings.items()))
    return Part(
        f"Was {what} of {title} right?",
        [verdict],
        [
            Section("Measured beside predicted", blocks),
            repeat_section("compare", None, words, file=file),
        ],
        "what was measured on a real host, beside a prediction",
        first=[*notes, *([Notes(found.remarks, warning=True)] if found.remarks else [])],
        foot=f"simnet {found.version}: {few(list(found.captures))}",
    )


def _drawable(rows: Sequence[Row]) -> list[_Drawn]:
    """Those of which there is a ratio."""
    return [
        _Drawn(row.metric, "", row.predicted, row.low, row.high, row.measured, row.inside)
        for row in rows
        if row.measured > 0 and row.predicted > 0 and row.low >= 0
    ]


def _figure(rows: Sequence[_Drawn]) -> Figure:
    from simnet.study.figures.record import ratios

    return ratios(rows, "")


KIND: Final = Kind(
    "compare", has_schema(SCHEMA), Comparison.model_validate_json, each("compare", _part)
)
