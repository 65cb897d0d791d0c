"""The picture of a search: the goal against what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from matplotlib.figure import Figure

from simnet.study.figures.pareto import front
from simnet.study.figures.titles import about
from simnet.study.run.measures import METRICS, RATE, SCREENED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from simnet.study.recommend.document import Recommendation, Tried

__all__ = ["pareto"]

_SIZE_INCHES: Final = (10.0, 4.2)
# a longer axis has a logarithm's steps beyond its first part, lest all else were one point
_LONGEST_PERCENT, _LINEAR_PERCENT = 200.0, 20.0
_TICKS: Final = (-100, -50, -20, 0, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
# colours that the common kinds of colour blindness tell apart (Okabe and Ito, 2008)
_TRIED, _BROKEN, _FRONT, _CHOSEN = "#56b4e9", "#bbbbbb", "#0072b2", "#d55e00"


def pareto(found: Recommendation) -> Figure:
    """Two panels: each list of changes, and those that no other beats in both numbers."""
    figure = Figure(figsize=_SIZE_INCHES, layout="constrained")
    others = [name for name in SCREENED if name != found.metric]
    for axes, other in zip(figure.subplots(1, 2), others, strict=True):
        _panel(axes, found, other)
    figure.axes[0].legend(loc="best", fontsize="small")
    sentence = f"what changes do to {_label(found, found.metric)}, and what that costs"
    title = about(found.scenario, found.base_tunings, found.settings, sentence)
    figure.suptitle(title, fontsize="medium", x=0.01, ha="left")
    return figure


def _panel(axes: Axes, found: Recommendation, other: str) -> None:
    known = [one for one in found.tried if found.metric in one.percent and other in one.percent]
    allowed = [one for one in known if one.allowed]
    groups = (
        ("breaks a limit", [one for one in known if not one.allowed], _BROKEN, "x", 25),
        ("tried", allowed, _TRIED, "o", 20),
        ("none is better in both", _front(allowed, found.metric, other), _FRONT, "o", 36),
    )
    for label, shown, colour, marker, size in groups:
        if shown:
            across, up = ([one.percent[name] for one in shown] for name in (other, found.metric))
            axes.scatter(across, up, s=size, color=colour, marker=marker, label=label)
    if found.confirmed is not None:
        judged = found.confirmed.tunings[0]
        x, y = (judged.change(name).percent for name in (other, found.metric))
        if x is not None and y is not None:
            axes.plot([x], [y], "D", color=_CHOSEN, markersize=8, label="recommended, confirmed")
            _name(axes, x, y)
    axes.plot([0], [0], "+", color="black", markersize=12, label="as it is")
    scale = ""
    if max(map(abs, axes.get_xlim())) > _LONGEST_PERCENT:
        axes.set_xscale("symlog", linthresh=_LINEAR_PERCENT)
        low, high = axes.get_xlim()
        axes.set_xticks([tick for tick in _TICKS if low <= tick <= high])
        axes.xaxis.set_major_formatter("{x:g}")
        axes.minorticks_off()
        scale = f", log scale beyond {_LINEAR_PERCENT:g} %"
    axes.set_xlabel(f"change of {_label(found, other)} (%{scale})")
    axes.set_ylabel(f"change of {_label(found, found.metric)} (%)")
    axes.spines[["top", "right"]].set_visible(False)


def _name(axes: Axes, x: float, y: float) -> None:
    """Write beside the diamond what it gains and costs, on the side with more room."""
    left, right = axes.get_xlim()
    near = x > (left + right) / 2
    axes.annotate(
        f"{y:+.1f} %, {x:+.1f} %",
        (x, y),
        (-8 if near else 8, 0),
        textcoords="offset points",
        ha="right" if near else "left",
        va="center",
        fontsize="small",
    )


def _label(found: Recommendation, metric: str) -> str:
    return METRICS[metric].said.format(latency=found.latency_kind or "latency")


def _front(known: Sequence[Tried], metric: str, other: str) -> list[Tried]:
    """Those that no other beats in one number and equals in the other."""

    def worth(one: Tried) -> tuple[float, float]:
        signs = [1 if name == RATE else -1 for name in (metric, other)]
        return signs[0] * one.percent[metric], signs[1] * one.percent[other]

    return [known[number] for number in front([worth(one) for one in known])]
