"""The picture of a screening: a tornado of what matters."""

from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simnet.study.figures.style import about, fitted
from simnet.study.run.measures import METRICS
from simnet.study.screen.document import Screen, Screened, in_percent

_SHOWN: Final = 15
_WIDTH_INCHES, _HEIGHT_INCHES, _INCHES_A_ROW = 9.0, 1.4, 0.3
# colours that the common kinds of colour blindness tell apart (Okabe and Ito, 2008)
_BAR, _DOT = "#56b4e9", "#0072b2"
_WITHIN = "#555555"
_SHARES_INCHES: Final = 5.0
_TITLE_COLUMNS: Final = 65
# of the longest bar
_THINNEST: Final = 0.015


def tornado(found: Screen) -> Figure:
    """The range of changes by each factor, and each end of it, what matters most on top."""
    shown = [one for one in found.factors if one.turns][:_SHOWN]
    height = _HEIGHT_INCHES + _INCHES_A_ROW * len(shown)
    width = _WIDTH_INCHES + (_SHARES_INCHES if found.shares else 0)
    figure = Figure(figsize=(width, height), layout="constrained")
    if found.shares:
        axes, beside = figure.subplots(1, 2, width_ratios=(_WIDTH_INCHES, _SHARES_INCHES))
        _shares(found, beside)
    else:
        axes = figure.subplots()
    chance = 2 * found.chance.get(found.metric, 0.0)
    axes.axvspan(
        in_percent(-chance), in_percent(chance), color="#888888", alpha=0.3, label="chance"
    )
    effects = [one.effect(found.metric) for one in shown]
    ends = [(in_percent(effect.low), in_percent(effect.high)) for effect in effects]
    least = _THINNEST * max((max(map(abs, pair)) for pair in ends), default=0.0)
    for row, (low, high) in enumerate(ends):
        # a change that is always the same has a bar, too
        wide = max(high - low, least)
        axes.barh(row, wide, 0.6, left=(low + high - wide) / 2, color=_BAR)
        axes.plot([low, high], [row, row], "|", color=_DOT, markersize=10)
    axes.set_yticks(range(len(shown)), [_turned(one) for one in shown])
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.use_sticky_edges = False  # a bar begins where its value does, not at the frame
    axes.margins(x=0.05)
    label = METRICS[found.metric].said.format(latency=found.latency_kind or "latency")
    turn = "from off to on, or to a larger value"
    axes.set_xlabel(f"change of {label} ({fitted(axes)}) {turn}")
    what = f"what changes {label}"
    # it begins where the axes do, right of long names
    title = about(found.scenario, found.tunings, found.settings, what, columns=_TITLE_COLUMNS)
    axes.set_title(title, fontsize="medium", loc="left")
    axes.legend(loc="lower right", fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _turned(one: Screened) -> str:
    """The name, and from which value to which a knob was turned."""
    if len(one.values) < 2 or one.values[-1] == "on":  # noqa: PLR2004 - from one to another
        return one.name
    return f"{one.name}  {one.values[0]} → {one.values[-1]}"


def _shares(found: Screen, axes: Axes) -> None:
    """Of the variance: alone in full colour, with others in the light one behind it."""
    shown = [one for one in found.shares if one.metric == found.metric]
    for row, one in enumerate(shown):
        within = {"ecolor": _WITHIN, "capsize": 2}
        total, half = 100 * max(one.total, 0), 100 * one.total_within
        axes.barh(row, total, 0.6, color=_BAR, xerr=half, error_kw=within)
        axes.barh(row, 100 * max(one.first, 0), 0.3, color=_DOT)
    axes.set_yticks(range(len(shown)), [one.name for one in shown], fontsize="small")
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.set_xlabel("share of the variance (%), 95 %")
    axes.set_title("alone (dark), with others (light)", fontsize="medium", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
