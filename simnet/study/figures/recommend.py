"""The picture of a search: the goal against what it costs."""

from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simnet.study.figures.pareto import front
from simnet.study.figures.style import AFTER, BEFORE, about, fitted
from simnet.study.recommend.document import Recommendation, Tried
from simnet.study.run.measures import METRICS, RATE, SCREENED

_SIZE_INCHES: Final = (10.0, 4.2)
# of the largest change that keeps the limits: what is beyond is an arrow
_MOST: Final = 1.5
# colours that the common kinds of colour blindness tell apart (Okabe and Ito, 2008)
_TRIED, _BROKEN, _FRONT = "#9ad0f0", "#bbbbbb", "#56b4e9"


def pareto(found: Recommendation) -> Figure:
    """Two panels: each list of changes, and those that no other beats in both numbers."""
    figure = Figure(figsize=_SIZE_INCHES, layout="constrained")
    others = [name for name in SCREENED if name != found.metric]
    for axes, other in zip(figure.subplots(1, 2), others, strict=True):
        _panel(axes, found, other)
    labels = dict(
        pair[::-1]
        for axes in figure.axes
        for pair in zip(*axes.get_legend_handles_labels(), strict=True)
    )
    figure.legend(
        [*labels.values()],
        [*labels],
        loc="outside lower center",
        ncols=len(labels),
        fontsize="small",
        frameon=False,
    )
    sentence = f"what changes do to {_label(found, found.metric)}, and what that costs"
    title = about(found.scenario, found.base_tunings, found.settings, sentence)
    figure.suptitle(title, fontsize="medium", x=0.01, ha="left")
    return figure


def _panel(axes: Axes, found: Recommendation, other: str) -> None:
    known = [one for one in found.tried if found.metric in one.percent and other in one.percent]
    allowed = [one for one in known if one.allowed]
    broken = [one for one in known if not one.allowed]
    most = _MOST * max((abs(one.percent[found.metric]) for one in allowed), default=0.0)
    beyond = [one for one in broken if one.percent[found.metric] > most > 0]
    groups = (
        ("breaks a limit", [one for one in broken if one not in beyond], _BROKEN, "x", 25),
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
            gain, cost = (_label(found, name) for name in (found.metric, other))
            axes.set_title(f"◆ {gain} {y:+.1f} %, {cost} {x:+.1f} %", fontsize="medium")
    axes.plot([0], [0], "+", color=BEFORE, markersize=14, markeredgewidth=3, label="as it is")
    if beyond:
        _beyond(axes, [(one.percent[other], one.percent[found.metric]) for one in beyond])
    axes.set_xlabel(f"change of {_label(found, other)} ({fitted(axes)})")
    axes.set_ylabel(f"change of {_label(found, found.metric)} (%)")
    axes.spines[["top", "right"]].set_visible(False)


def _beyond(axes: Axes, points: Sequence[tuple[float, float]]) -> None:
    """Draw as arrows at the upper edge what would squash all else, and write how far it is."""
    _, top = axes.get_ylim()
    across, up = zip(*points, strict=True)
    axes.scatter(across, [top] * len(points), s=25, color=_BROKEN, marker="^", clip_on=False)
    least, most = min(up), max(up)
    said = f"{least:+.0f} %" if least == most else f"{least:+.0f} to {most:+.0f} %"
    place = (sum(across) / len(across), top)
    axes.annotate(said, place, (0, -12), textcoords="offset points", ha="center", fontsize="small")
    axes.set_ylim(top=top)


def _label(found: Recommendation, metric: str) -> str:
    return METRICS[metric].said.format(latency=found.latency_kind or "latency")


def _front(known: Sequence[Tried], metric: str, other: str) -> list[Tried]:
    """Those that no other beats in one number and equals in the other."""

    def worth(one: Tried) -> tuple[float, float]:
        signs = [1 if name == RATE else -1 for name in (metric, other)]
        return signs[0] * one.percent[metric], signs[1] * one.percent[other]

    return [known[number] for number in front([worth(one) for one in known])]
