"""The picture of the record: how far each prediction was from the number that became known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol

from matplotlib.figure import Figure

from simnet.study.figures.style import ink
from simnet.study.whatif.record import OUTCOMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from simnet.study.validate.record import Record
    from simnet.study.whatif.record import ChangeRecord

_WIDTH_INCHES: Final = 9.0
_ROW_INCHES: Final = 0.18
_REST_INCHES: Final = 1.2
_INSIDE: Final = "#009e73"
_OUTSIDE: Final = "#d55e00"
_RIGHT: Final = 0.10
# ratios beyond are drawn at the edge
_LEAST: Final = 0.1
_MOST: Final = 10.0
_SQUARE_INCHES: Final = (6.5, 6.5)
_COLOURS: Final = dict(zip(OUTCOMES, (_INSIDE, "#777777", _OUTSIDE), strict=True))


class _Predicted(Protocol):
    """A number with its prediction: a score of the record, a row of a validation."""

    @property
    def id(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def predicted(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def measured(self) -> float | None: ...
    @property
    def covered(self) -> bool | None: ...


def scores(found: Record) -> Figure:
    """Predicted over measured, one line a number, on a logarithmic scale; 1 is right.

    The bar is the 95 % interval. Green numbers lie inside of it, red ones do not. The grey band is
    10 % to either side. Numbers that were measured as 0 have no ratio and are left out.
    """
    title = (
        f"{sum(one.covered for one in found.last())} of {len(found.last())} numbers lie inside"
        f" their interval; the median error is {found.median_error:.0%}"
    )
    return ratios([score for score in found.last() if score.measured], title)


def ratios(last: Sequence[_Predicted], title: str) -> Figure:
    """The same of any numbers that were predicted and measured, none of them 0."""
    height = _REST_INCHES + _ROW_INCHES * len(last)
    axes = (figure := Figure(figsize=(_WIDTH_INCHES, height), layout="constrained")).subplots()
    axes.axvspan(1 - _RIGHT, 1 + _RIGHT, color="#888888", alpha=0.25, zorder=0)
    axes.axvline(1.0, color=ink(), linewidth=0.8)
    for place, score in enumerate(last):
        colour = _INSIDE if score.covered else _OUTSIDE
        exact = _ratios(score)
        low, ratio, high = (min(max(one, _LEAST), _MOST) for one in exact)
        axes.plot([low, high], [place, place], color=colour, linewidth=2.5, alpha=0.5)
        axes.plot([ratio], [place], "o", color=colour, markersize=4)
        if ratio in {_LEAST, _MOST}:
            _annotate_beyond(axes, exact[1], (ratio, place), colour)
    axes.set_xscale("log")
    axes.set_xlim(_LEAST, _MOST)
    ticks = [0.1, 0.2, 0.5, 0.8, 1, 1.25, 2, 5, 10]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(last)), [f"{one.id}  {one.key}" for one in last], fontsize=7)
    axes.set_ylim(len(last) - 0.4, -0.6)
    axes.set_xlabel("predicted / measured (1: right; grey: within 10 %; bar: 95 % interval)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, fontsize="medium", loc="left")
    return figure


def _annotate_beyond(axes: Axes, exact: float, dot: tuple[float, float], colour: str) -> None:
    """Write beside a dot at the edge of the picture where it would be."""
    left = exact < 1
    axes.annotate(
        f"← {exact:.2g}" if left else f"{exact:.2g} →",
        dot,
        (6 if left else -6, 0),
        textcoords="offset points",
        ha="left" if left else "right",
        va="center",
        fontsize=7,
        color=colour,
    )


def _ratios(one: _Predicted) -> tuple[float, ...]:
    measured = one.measured or 1.0
    return tuple(number / measured for number in (one.low, one.predicted, one.high))


def changes(found: ChangeRecord) -> Figure:
    """Predicted beside measured changes, as factors on logarithmic scales; on the line is right.

    The bar is the interval. Beyond factors of ten a dot stands at the edge.
    """
    right, abstained, wrong = (found.count(outcome) for outcome in OUTCOMES)
    axes = (figure := Figure(figsize=_SQUARE_INCHES, layout="constrained")).subplots()
    axes.plot([_LEAST, _MOST], [_LEAST, _MOST], color=ink(), linewidth=0.8)
    for line in (axes.axhline, axes.axvline):
        line(1.0, color="#bbbbbb", linewidth=0.8)
    for outcome, colour in _COLOURS.items():
        some = [one for one in found.changes if one.outcome == outcome]
        measured = [_factor(one.measured) for one in some]
        for place, one in zip(measured, some, strict=True):
            ends = [_factor(end) for end in (one.low, one.high)]
            axes.plot([place, place], ends, color=colour, alpha=0.3, linewidth=1.5, zorder=1)
        predicted = [_factor(one.predicted) for one in some]
        marker, size = ("X", 7) if outcome == "wrong" else ("o", 4)
        axes.plot(measured, predicted, marker, color=colour, markersize=size, label=outcome)
    ticks = [0.1, 0.2, 0.5, 1, 2, 5, 10]
    for scale in (axes.set_xscale, axes.set_yscale):
        scale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlim(_LEAST, _MOST)
    axes.set_ylim(_LEAST, _MOST)
    axes.set_xlabel("measured: after / before")
    axes.set_ylabel("predicted: after / before (bar: what is said of it)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper left", frameon=False)
    told = f"of {right + wrong} changes that were told, {right} went as predicted"
    axes.set_title(f"{told}; {abstained} were not told", fontsize="medium", loc="left")
    return figure


def _factor(percent: float) -> float:
    """A change as a factor, at the edge where it is beyond."""
    return min(max(1 + percent / 100, _LEAST), _MOST)
