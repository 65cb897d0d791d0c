"""The picture of a search: the goal against what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from matplotlib.figure import Figure

from simnet.study.figures.pareto import front
from simnet.study.figures.style import AFTER, BEFORE, about, fitted
from simnet.study.run.measures import METRICS, RATE, SCREENED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from simnet.study.recommend.document import Recommendation, Tried

_SIZE_INCHES: Final = (10.0, 4.2)
# colours that the common kinds of colour blindness tell apart (Okabe and Ito, 2008)
_TRIED, _BROKEN, _FRONT = "#9ad0f0", "#bbbbbb", "#56b4e9"


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
            axes.plot([x], [y], "D", color=AFTER, markersize=9, label="recommended, confirmed")
            _name(axes, x, y)
    axes.plot([0], [0], "+", color=BEFORE, markersize=14, markeredgewidth=3, label="as it is")
    axes.set_xlabel(f"change of {_label(found, other)} ({fitted(axes)})")
    axes.set_ylabel(f"change of {_label(found, found.metric)} (%)")
    axes.spines[["top", "right"]].set_visible(False)


def _name(axes: Axes, x: float, y: float) -> None:
    """Write beside the diamond what it gains and costs, on the side with more room."""
    left, right = axes.get_xlim()
    near = x > (left + right) / 2
    axes.annotate(
        f"{y:+.1f} %, {x:+.1f} %",
        (x, y),
        (-6 if near else 6, 9),
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
