"""What more of one number costs in others: the points that no other beats in both."""

from collections.abc import Sequence
from typing import Final, TypeAlias

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simnet.study.figures.sweep import title, varied
from simnet.study.run.measures import MEASURES, P99
from simnet.study.statistics.optimum import Cell, Optimum
from simnet.study.sweep.sweep import Sweep

_Point: TypeAlias = "tuple[tuple[float, float], Cell]"
_SIZE_INCHES: Final = (10.0, 4.8)
_COSTS: Final = ("cpu_busy_percent", P99)
# of the range of the points
_NAME_WIDTH: Final = 0.3
_NAME_HEIGHT: Final = 0.06
# of its largest value: what an axis spans at least
_LEAST_SHARE: Final = 0.1
# colours that the common kinds of colour blindness tell apart (Okabe and Ito, 2008)
_TRIED, _FRONT = "#56b4e9", "#0072b2"


def front(worth: Sequence[tuple[float, float]]) -> list[int]:
    """Numbers of the pairs that no other beats in one number and equals in the other."""
    return [
        number
        for number, (x, y) in enumerate(worth)
        if not any(a >= x and b >= y and (a, b) != (x, y) for a, b in worth)
    ]


def of_sweep(found: Sweep, by: str) -> Figure:
    """A panel for each cost: every combination of values, and those that none beats in both.

    Costs are CPU time and the 99th percentile of latency, where that was measured; of a measure
    that is a cost itself, what it is paid for.
    """
    optimum = found.optimum(by)
    names = (found.compared_by if by == cost else cost for cost in _COSTS)
    costs = [name for name in names if all(cell.estimate(name) for cell in optimum.cells)]
    figure = Figure(figsize=_SIZE_INCHES, layout="constrained")
    for axes, cost in zip(figure.subplots(1, len(costs), squeeze=False)[0], costs, strict=True):
        _panel(axes, optimum, cost)
    figure.axes[0].legend(loc="best", fontsize="small")
    heading = f"{title(found)}, each point {', '.join(varied(optimum))}"
    figure.suptitle(heading, fontsize="medium", x=0.01, ha="left")
    return figure


def _panel(axes: Axes, optimum: Optimum, cost: str) -> None:
    up, across = optimum.named(optimum.measure), optimum.named(cost)
    worth = [(_worth(cell, cost), _worth(cell, optimum.measure)) for cell in optimum.cells]
    best = front(worth)
    for number, cell in enumerate(optimum.cells):
        x, y = cell.estimate(cost), cell.estimate(optimum.measure)
        if x is None or y is None:
            continue
        first = number in (best[0], next((n for n in range(len(worth)) if n not in best), -1))
        axes.errorbar(
            [x.mean * across.scale],
            [y.mean * up.scale],
            [(y.half_width or 0.0) * up.scale],
            [(x.half_width or 0.0) * across.scale],
            fmt="o",
            markersize=7 if number in best else 4,
            capsize=2,
            color=_FRONT if number in best else _TRIED,
            label=("none is better in both" if number in best else "beaten") if first else None,
        )
    axes.set_xlabel(f"{across.label}, {_better(cost)}")
    axes.set_ylabel(f"{up.label}, {_better(optimum.measure)}")
    axes.margins(0.12)
    _widen(axes, [across.scale * abs(x) for x, _ in worth])
    points = [(worth[number], optimum.cells[number]) for number in best]
    for (left, height), cell in _apart(points):
        axes.annotate(
            ", ".join(cell.settings[name] for name in varied(optimum)),
            (abs(left) * across.scale, abs(height) * up.scale),
            xytext=(5, -10),
            textcoords="offset points",
            fontsize="small",
        )
    axes.spines[["top", "right"]].set_visible(False)


def _widen(axes: Axes, costs: Sequence[float]) -> None:
    """Let the axis of a cost span a tenth of its values at least: what is alike looks alike."""
    low, high = min(costs), max(costs)
    wider = (_LEAST_SHARE * high - (high - low)) / 2
    if wider > 0:
        axes.set_xlim(low - wider, high + wider)


def _apart(points: Sequence[_Point]) -> list[_Point]:
    """Those whose names do not cover each other: from the best on, each a step from the next."""
    kept: list[_Point] = []
    if not points:
        return kept
    values = [value for value, _ in points]
    width, height = (max(each) - min(each) or 1.0 for each in zip(*values, strict=True))
    for (x, y), cell in sorted(points, key=lambda one: one[0][1], reverse=True):
        near = (
            abs(x - other[0]) < _NAME_WIDTH * width and abs(y - other[1]) < _NAME_HEIGHT * height
            for other, _ in kept
        )
        if not any(near):
            kept.append(((x, y), cell))
    return kept


def _better(name: str) -> str:
    return "more is better" if MEASURES[name].largest else "less is better"


def _worth(cell: Cell, name: str) -> float:
    """More is better."""
    estimate = cell.estimate(name)
    mean = estimate.mean if estimate else float("nan")
    return mean if MEASURES[name].largest else -mean
