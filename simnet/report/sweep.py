"""A sweep as a table, one line a combination of values, and where the best lies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simnet.report.columns import columns
from simnet.study.run.duration_text import in_unit
from simnet.study.run.measures import MEASURES, THROUGHPUT, TRANSACTIONS

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from simnet.scenario.core.subject import Measure
    from simnet.study.statistics.optimum import Cell
    from simnet.study.sweep.sweep import Sweep

_US = " us"
_WITH_INTERVAL = frozenset({TRANSACTIONS, THROUGHPUT, "cpu_busy_percent"})


def sweep(found: Sweep, by: str | None) -> str:
    """The table, and where the best lies."""
    heading, *cells = sweep_cells(found, by)
    sentence = found.optimum(by).sentence()
    if not found.conclusive:
        sentence = f"cannot tell which is best: {found.remarks[-1]}"
    return f"{columns(heading, cells, left=len(found.names))}\n{sentence}\n"


def sweep_cells(found: Sweep, by: str | None) -> list[tuple[str, ...]]:
    """Knobs, tuning and means under a heading; half widths (95 %) where there are several runs.

    What no run has, as real time where there are no jobs, has no column; what is not listed has
    one where it decides.
    """
    several = len(found.points) > len(found.cells)
    names = [
        name
        for name, measure in MEASURES.items()
        if (measure.listed or name == by) and any(cell.estimate(name) for cell in found.cells)
    ]
    with_interval = _WITH_INTERVAL | {by}
    heading = [*found.names, *(["runs"] if several else [])]
    shown = [_in_unit(found.optimum(by).named(name), name, found.cells) for name in names]
    for name, measure in zip(names, shown, strict=True):
        heading.append(measure.heading)
        if several and name in with_interval:
            heading.append("±")
    runs = len(found.points) // len(found.cells)
    cells = [
        (
            *(cell.settings[name] for name in found.names),
            *([str(runs)] if several else []),
            *_means(cell, dict(zip(names, shown, strict=True)), with_interval if several else ()),
        )
        for cell in found.cells
    ]
    return [tuple(heading), *cells]


def _in_unit(measure: Measure, name: str, cells: Sequence[Cell]) -> Measure:
    """Long latencies in milliseconds or seconds."""
    if not measure.heading.endswith(_US):
        return measure
    means = (found.mean for cell in cells if (found := cell.estimate(name)) is not None)
    unit, scale = in_unit(means)
    heading = f"{measure.heading.removesuffix(_US)} {unit}"
    return replace(measure, heading=heading, scale=scale)


def _means(
    cell: Cell, shown: Mapping[str, Measure], with_interval: Container[str | None]
) -> list[str]:
    texts = []
    for name, measure in shown.items():
        estimate = cell.estimate(name)
        texts.append("-" if estimate is None else measure.shown(estimate.mean))
        if name in with_interval:
            width = estimate.half_width if estimate else None
            texts.append("-" if width is None else measure.shown(width))
    return texts
