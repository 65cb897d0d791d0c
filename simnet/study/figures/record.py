"""The picture of the record: how far each prediction was from the number that became known."""

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simnet.study.figures.style import ink
from simnet.study.validate.document import system_of
from simnet.study.validate.record import Record
from simnet.study.whatif.record import OUTCOMES, ChangeRecord

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

    The bar is the 95 % interval. Green dots lie inside of it, orange crosses do not. The grey band
    is 10 % to either side. Numbers that were measured as 0 have no ratio and are left out.
    """
    title = (
        f"{sum(one.covered for one in found.last())} of {len(found.last())} numbers lie inside"
        f" their interval; the median error is {found.median_error:.0%}"
    )
    return ratios([score for score in found.last() if score.measured], title)


def ratios(last: Sequence[_Predicted], title: str) -> Figure:
    """The same of any numbers that were predicted and measured, none of them 0.

    Each system that a document describes has its name above its numbers. An arrow leads to where a
    dot or the end of a bar is that has no room.
    """
    rows = list(_rows(last))
    height = _REST_INCHES + _ROW_INCHES * len(rows)
    axes = (figure := Figure(figsize=(_WIDTH_INCHES, height), layout="constrained")).subplots()
    axes.axvspan(1 - _RIGHT, 1 + _RIGHT, color="#888888", alpha=0.25, zorder=0)
    axes.axvline(1.0, color=ink(), linewidth=0.8)
    for place, row in enumerate(rows):
        if isinstance(row, str):
            axes.text(_LEAST * 1.02, place, row, fontsize=8, fontweight="bold", va="center")
        else:
            _draw(axes, row, place)
    axes.set_xscale("log")
    axes.set_xlim(_LEAST, _MOST)
    ticks = [0.1, 0.2, 0.5, 0.8, 1, 1.25, 2, 5, 10]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    named = {place: row for place, row in enumerate(rows) if not isinstance(row, str)}
    axes.set_yticks([*named], [f"{one.id}  {one.key}" for one in named.values()], fontsize=7)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    said = "1: right; grey: within 10 %; bar: 95 % interval; cross: outside of it"
    axes.set_xlabel(f"predicted / measured ({said})")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, fontsize="medium", loc="left")
    return figure


def _rows(last: Sequence[_Predicted]) -> Iterator[_Predicted | str]:
    system = ""
    for one in last:
        found = system_of(one.id)
        if found and found != system:
            yield found
        system = found
        yield one


def _draw(axes: Axes, one: _Predicted, place: int) -> None:
    colour, marker = (_INSIDE, "o") if one.covered else (_OUTSIDE, "X")
    exact = _ratios(one)
    low, ratio, high = (min(max(number, _LEAST), _MOST) for number in exact)
    axes.plot([low, high], [place, place], color=colour, linewidth=2.5, alpha=0.5)
    for beyond, edge, arrow in ((exact[0] < _LEAST, low, "<"), (exact[2] > _MOST, high, ">")):
        if beyond:
            axes.plot([edge], [place], arrow, color=colour, markersize=6, clip_on=False)
    if ratio not in {_LEAST, _MOST}:
        axes.plot([ratio], [place], marker, color=colour, markersize=4.5)
        return
    # the number stands beside the bar and not on it
    left = ratio == _LEAST
    axes.annotate(
        f"← {exact[1]:.2g}" if left else f"{exact[1]:.2g} →",
        (high if left else low, place),
        (8 if left else -8, 0),
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
