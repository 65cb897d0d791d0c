"""The picture of a sweep: curves with intervals over one knob, a heat map over two."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from simnet.printable import titled
from simnet.scenario.core.knobs import KNOBS
from simnet.scenario.core.specs import Quantity
from simnet.scenario.core.units import KINDS, UnitError, parse_quantity
from simnet.study.run.measures import MEASURES, P50, P99
from simnet.study.statistics.optimum import Estimate
from simnet.study.sweep.asked import AS_IT_IS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
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
# good is bright, whether more is better or less
_COLOURS: Final = {True: "viridis", False: "viridis_r"}
# of the scale of colours: above, black is read better than white
_BRIGHT: Final = 0.6
# the scale of colours spans at least so many widths of an interval, and this share of the largest
# value: what is within chance looks the same
_LEAST_WIDTHS: Final = 10
_LEAST_SHARE: Final = 0.1
_PLAIN: Final = "as it is"
# of lines; the common kinds of colour blindness tell them apart (Okabe and Ito, 2008)
_LINES: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
# of the room of a value on an axis without order, all lines together
_DODGED: Final = 0.4
_NUMBER: Final = re.compile(r"[+-]?\d[\d_]*(?:\.\d+)?")


def figure(found: Sweep, by: str) -> Figure:
    """Two panels: the measure, and beside it CPU time (throughput, where CPU time is the measure).

    A filled mark or a frame: may be the best, with 95 % confidence.
    """
    beside = found.compared_by if by == "cpu_busy_percent" else "cpu_busy_percent"
    return _panels(found, found.optimum(by), (by, beside))


def latency(found: Sweep, _by: str) -> Figure:
    """Two panels: the median of latency and its 99th percentile; the marks go by the latter."""
    return _panels(found, found.optimum(P99), (P50, P99))


def _panels(found: Sweep, optimum: Optimum, names: tuple[str, str]) -> Figure:
    drawn = Figure(figsize=_SIZE_INCHES, layout="constrained")
    flat = len(varied(optimum)) == 2 and not found.tuned  # noqa: PLR2004 (a plane has two axes)
    draw = _heat if flat else _curves
    for axes, name in zip(drawn.subplots(1, 2), names, strict=True):
        draw(axes, optimum, name)
        if flat:  # curves have it beside their axis
            axes.set_title(optimum.named(name).label, fontsize="medium")
    handles, shown = drawn.axes[0].get_legend_handles_labels()
    if 1 < len(shown) <= _MOST_LEGEND:
        others = [name for name in varied(optimum) if name != _across(optimum)]
        drawn.legend(handles, shown, title=", ".join(others), loc="outside right upper")
    heading = title(found)
    if optimum.members is not None:
        which = "" if names[0] == optimum.measure else f" by {optimum.named(optimum.measure).label}"
        heading += f"; outlined: not distinguishable from the best{which} (95 %)"
    elif flat and len(optimum.equals) < len(optimum.cells):
        heading += "; outlined: the best, of one run each"
    drawn.suptitle(heading, fontsize="medium", x=0.01, ha="left")
    return drawn


def title(found: Sweep) -> str:
    """The scenario, how many runs, and what is the same in all of them."""
    axes = found.optimum().axes
    same = [(name, values[0]) for name, values in axes.items() if len(values) == 1]
    name = titled(found.scenario, (), [*same, *found.settings.items()])
    return f"{name}: {len(found.points)} runs"


def varied(optimum: Optimum) -> list[str]:
    """The axes with more than one value."""
    return [name for name, values in optimum.axes.items() if len(values) > 1]


def _across(optimum: Optimum) -> str:
    """The axis with the most values, of those whose values have an order if there are any."""
    by_size = sorted(varied(optimum), key=lambda name: -len(optimum.axes[name]))
    ordered = (name for name in by_size if _numbers(name, optimum.axes[name]))
    return next(ordered, next(iter(by_size), next(iter(optimum.axes), "")))


def _curves(axes: Axes, optimum: Optimum, name: str) -> None:
    measure = optimum.named(name)
    across = _across(optimum)
    labels = optimum.axes.get(across, ("",))
    numbers = _numbers(across, labels)
    places = dict(zip(labels, numbers or range(len(labels)), strict=True))
    lines: dict[str, list[int]] = {}
    others = [other for other in varied(optimum) if other != across]
    for number, cell in enumerate(optimum.cells):
        key = ", ".join(cell.settings[other] for other in others)
        lines.setdefault(key, []).append(number)
    tops = [0.0]
    for line_number, (key, numbered) in enumerate(lines.items()):
        aside = 0.0 if numbers else _DODGED * ((line_number + 0.5) / len(lines) - 0.5)
        marks = []
        for number in numbered:
            cell = optimum.cells[number]
            if (estimate := cell.estimate(name)) is not None:
                place = places[cell.settings.get(across, "")] + aside
                chosen = optimum.members is not None and number in optimum.members
                marks.append((place, estimate, chosen))
        marks.sort(key=lambda mark: mark[0])
        x = [place for place, _, _ in marks]
        y = [measure.scale * estimate.mean for _, estimate, _ in marks]
        widths = [measure.scale * (estimate.half_width or 0.0) for _, estimate, _ in marks]
        # a line between values without an order would show a slope that there is not
        form, size = ("o-", 3) if numbers else ("o", 5)
        colour = _LINES[line_number % len(_LINES)]
        said = _PLAIN if key == AS_IT_IS else key
        axes.errorbar(x, y, widths, fmt=form, markersize=size, capsize=2, color=colour, label=said)
        tops += [mean + width for mean, width in zip(y, widths, strict=True)]
        outlined = [(a, b) for a, b, (_, _, chosen) in zip(x, y, marks, strict=True) if chosen]
        if outlined:
            axes.plot(*zip(*outlined, strict=True), "o", markersize=9, mfc="none", mec=colour)
    if numbers and min(numbers) > 0 and max(numbers) >= _WIDE * min(numbers):
        axes.set_xscale("log", base=2)
    few = _few(len(labels))
    axes.set_xticks([places[labels[i]] for i in few], [labels[i] for i in few], **_turned(labels))
    axes.set_xticks([], minor=True)
    if not numbers:
        axes.set_xlim(-0.5, len(labels) - 0.5)
    axes.set_xlabel(across)
    axes.set_ylabel(measure.label)
    axes.set_ylim(0, 1.08 * (max(tops) or 1.0))
    axes.spines[["top", "right"]].set_visible(False)


def _heat(axes: Axes, optimum: Optimum, name: str) -> None:
    measure = optimum.named(name)
    across = _across(optimum)
    (up,) = (other for other in varied(optimum) if other != across)
    columns, rows = optimum.axes[across], optimum.axes[up]
    grid = np.full((len(rows), len(columns)), np.nan)
    places = [
        (rows.index(c.settings[up]), columns.index(c.settings[across])) for c in optimum.cells
    ]
    for place, cell in zip(places, optimum.cells, strict=True):
        grid[place] = _mean(cell, name) * measure.scale
    low, high = _limits(grid, optimum.cells, name)
    image = axes.imshow(
        grid, cmap=_COLOURS[measure.largest], vmin=low, vmax=high, aspect="auto", origin="lower"
    )
    if grid.size <= _MOST_WRITTEN:
        size = 6 if grid.size > _MOST_LARGE else 9
        for (row, column), value in np.ndenumerate(grid):
            share = (value - low) / (high - low) if high > low else 0.0
            bright = (share if measure.largest else 1 - share) > _BRIGHT
            text = f"{value:.0f}" if abs(value) >= _WHOLE else f"{value:.3g}"
            ink = "black" if bright else "white"
            axes.text(column, row, text, ha="center", va="center", fontsize=size, color=ink)
    alike = optimum.equals
    one_run = alike if len(alike) < len(optimum.cells) else ()
    for number in optimum.members or one_run:
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
    better = "more" if measure.largest else "less"
    axes.figure.colorbar(image, ax=axes, label=f"{better} is better: bright")


def _limits(grid: npt.NDArray[np.float64], cells: Sequence[Cell], name: str) -> tuple[float, float]:
    """The ends of the scale of colours, so far apart that differences by chance don't show."""
    estimates = [estimate for cell in cells if (estimate := cell.estimate(name)) is not None]
    widths = [one.half_width or 0.0 for one in estimates]
    noise = MEASURES[name].scale * float(np.median(widths)) if widths else 0.0
    low, high = float(np.nanmin(grid)), float(np.nanmax(grid))
    least = max(_LEAST_WIDTHS * noise, _LEAST_SHARE * float(np.nanmax(np.abs(grid))))
    wider = max(least - (high - low), 0.0) / 2
    return low - wider, high + wider


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


def _numbers(name: str, texts: Sequence[str]) -> list[float] | None:
    """The values as numbers in one unit; None where they are not all of one kind, or no amounts."""
    knob = next((one for one in KNOBS if one.match(name) is not None), None)
    if knob is not None and not isinstance(knob.spec, Quantity):
        return None  # a mask, a CPU or a node: digits without an order
    if all(_NUMBER.fullmatch(text) for text in texts):
        return [float(text) for text in texts]
    for kind in KINDS.values():
        try:
            return [float(parse_quantity(text, kind)) for text in texts]
        except UnitError:
            continue
    return None
