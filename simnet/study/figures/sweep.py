"""The picture of a sweep: curves with intervals over one knob, a heat map over two."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from simnet.scenario.core.units import KINDS, UnitError, parse_quantity
from simnet.study.run.measures import MEASURES
from simnet.study.statistics.optimum import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from simnet.study.statistics.optimum import Cell, Optimum
    from simnet.study.sweep.sweep import Sweep

_SIZE_INCHES: Final = (10.0, 4.8)
# from this ratio of largest to smallest value on, even spacing hides the small ones
_WIDE: Final = 20
_MOST_LEGEND: Final = 12
_MOST_WRITTEN: Final = 120
_MOST_LARGE: Final = 40
_WHOLE: Final = 100
_MOST_TICKS: Final = 20
_MOST_LETTERS: Final = 30
_COLOURS: Final = "viridis"
_NUMBER: Final = re.compile(r"[+-]?\d[\d_]*(?:\.\d+)?")


def figure(found: Sweep, by: str) -> Figure:
    """Two panels: the measure, and beside it CPU time (throughput, where CPU time is the measure).

    A filled mark or a frame: may be the best, with 95 % confidence.
    """
    optimum = found.optimum(by)
    beside = "throughput_bps" if by == "cpu_busy_percent" else "cpu_busy_percent"
    drawn = Figure(figsize=_SIZE_INCHES, layout="constrained")
    flat = len(optimum.axes) == 2 and not found.tuned  # noqa: PLR2004 (a plane has two axes)
    draw = _heat if flat else _curves
    for axes, name in zip(drawn.subplots(1, 2), (by, beside), strict=True):
        draw(axes, optimum, name)
    handles, shown = drawn.axes[0].get_legend_handles_labels()
    if 1 < len(shown) <= _MOST_LEGEND:
        others = [name for name in optimum.axes if name != _across(optimum)]
        drawn.legend(handles, shown, title=", ".join(others), loc="outside right upper")
    runs = len(found.points)
    title = f"{found.scenario}: {runs} runs"
    if optimum.members is not None:
        title += "; outlined: not distinguishable from the best (95 %)"
    drawn.suptitle(title, fontsize="medium", x=0.01, ha="left")
    return drawn


def _across(optimum: Optimum) -> str:
    """The axis with the most values."""
    return max(optimum.axes, key=lambda name: len(optimum.axes[name]), default="")


def _curves(axes: Axes, optimum: Optimum, name: str) -> None:
    measure = MEASURES[name]
    across = _across(optimum)
    labels = optimum.axes.get(across, ("",))
    numbers = _numbers(labels)
    places = dict(zip(labels, numbers or range(len(labels)), strict=True))
    lines: dict[str, list[int]] = {}
    for number, cell in enumerate(optimum.cells):
        key = ", ".join(cell.settings[other] for other in optimum.axes if other != across)
        lines.setdefault(key, []).append(number)
    tops = [0.0]
    for key, numbered in lines.items():
        marks = []
        for number in numbered:
            cell = optimum.cells[number]
            if (estimate := cell.estimate(name)) is not None:
                place = places[cell.settings.get(across, "")]
                chosen = optimum.members is not None and number in optimum.members
                marks.append((place, estimate, chosen))
        marks.sort(key=lambda mark: mark[0])
        x = [place for place, _, _ in marks]
        y = [measure.scale * estimate.mean for _, estimate, _ in marks]
        widths = [measure.scale * (estimate.half_width or 0.0) for _, estimate, _ in marks]
        line = axes.errorbar(x, y, widths, marker="o", markersize=3, capsize=2, label=key)
        tops += [mean + width for mean, width in zip(y, widths, strict=True)]
        outlined = [(a, b) for a, b, (_, _, chosen) in zip(x, y, marks, strict=True) if chosen]
        if outlined:
            colour = line.lines[0].get_color()
            axes.plot(*zip(*outlined, strict=True), "o", markersize=9, mfc="none", mec=colour)
    if numbers and min(numbers) > 0 and max(numbers) >= _WIDE * min(numbers):
        axes.set_xscale("log", base=2)
    few = _few(len(labels))
    axes.set_xticks([places[labels[i]] for i in few], [labels[i] for i in few], **_turned(labels))
    axes.set_xticks([], minor=True)
    axes.set_xlabel(across)
    axes.set_ylabel(measure.label)
    axes.set_ylim(0, 1.08 * (max(tops) or 1.0))
    axes.spines[["top", "right"]].set_visible(False)


def _heat(axes: Axes, optimum: Optimum, name: str) -> None:
    measure = MEASURES[name]
    across = _across(optimum)
    (up,) = (other for other in optimum.axes if other != across)
    columns, rows = optimum.axes[across], optimum.axes[up]
    grid = np.full((len(rows), len(columns)), np.nan)
    places = [
        (rows.index(c.settings[up]), columns.index(c.settings[across])) for c in optimum.cells
    ]
    for place, cell in zip(places, optimum.cells, strict=True):
        grid[place] = _mean(cell, name) * measure.scale
    image = axes.imshow(grid, cmap=_COLOURS, aspect="auto", origin="lower")
    if grid.size <= _MOST_WRITTEN:
        size = 6 if grid.size > _MOST_LARGE else 9
        middle = (np.nanmin(grid) + np.nanmax(grid)) / 2
        for (row, column), value in np.ndenumerate(grid):
            ink = "white" if value < middle else "black"
            text = f"{value:.0f}" if abs(value) >= _WHOLE else f"{value:.3g}"
            axes.text(column, row, text, ha="center", va="center", fontsize=size, color=ink)
    for number in optimum.members or (optimum.best,):
        row, column = places[number]
        corner = (column - 0.46, row - 0.46)
        width = 2.4 if number == optimum.best else 1.2
        axes.add_patch(Rectangle(corner, 0.92, 0.92, fill=False, edgecolor="red", linewidth=width))
    few = _few(len(columns))
    axes.set_xticks(few, [columns[i] for i in few], **_turned(columns))
    few = _few(len(rows))
    axes.set_yticks(few, [rows[i] for i in few])
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.figure.colorbar(image, ax=axes, label=measure.label)


def _mean(cell: Cell, name: str) -> float:
    estimate: Estimate | None = cell.estimate(name)
    return float("nan") if estimate is None else estimate.mean


def _turned(labels: Sequence[str]) -> dict[str, Any]:
    """How labels stand below an axis: level where they have room."""
    level = len(labels) * max(map(len, labels)) <= _MOST_LETTERS
    return {} if level else {"rotation": 60, "ha": "right"}


def _few(count: int) -> list[int]:
    """Which of many ticks are labelled."""
    return list(range(0, count, -(-count // _MOST_TICKS)))


def _numbers(texts: Sequence[str]) -> list[float] | None:
    """The values as numbers in one unit; None where they are not all of one kind."""
    if all(_NUMBER.fullmatch(text) for text in texts):
        return [float(text) for text in texts]
    for kind in KINDS.values():
        try:
            return [float(parse_quantity(text, kind)) for text in texts]
        except UnitError:
            continue
    return None
