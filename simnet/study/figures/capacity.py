"""The picture of a capacity: the limited quantities over the load, and where they cross limits."""

from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simnet.study.capacity.document import Capacity, Interval
from simnet.study.capacity.verdict import LIMITED
from simnet.study.figures.style import about, ink

_PERCENT: Final = 100.0
_WIDTH_INCHES: Final = 9.0
_HEIGHT_INCHES: Final = 2.6
# colours that the common kinds of colour blindness tell apart (Okabe and Ito, 2008)
_COLOURS: Final = {"pass": "#009e73", "fail": "#d55e00", "undecided": "#999999"}


def curves(found: Capacity) -> Figure:
    """A panel for each limited quantity: means with intervals, the limit, the answer shaded."""
    names = [interval.name for interval in found.loads[0].intervals]
    size = (_WIDTH_INCHES, _HEIGHT_INCHES * len(names))
    figure = Figure(figsize=size, layout="constrained")
    for axes, name in zip(figure.subplots(len(names), squeeze=False)[:, 0], names, strict=True):
        _draw(axes, found, name)
    label = f"{found.setting} ({found.counted})" if found.counted else found.setting
    figure.axes[-1].set_xlabel(label)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", fontsize="small")
    title = about(found.scenario, found.tunings, found.settings, _answer(found))
    figure.suptitle(title, fontsize="medium", x=0.01, ha="left")
    return figure


def _answer(found: Capacity) -> str:
    if found.low is None:
        return "no load meets the limits"
    if found.high is None:
        return f"{found.low:,.0f} meets the limits"
    return f"{found.low:,.0f} meets the limits, {found.high:,.0f} does not"


def _draw(axes: Axes, found: Capacity, name: str) -> None:
    tops = []
    for verdict, colour in _COLOURS.items():
        loads, means, below, above = [], [], [], []
        for one in found.loads:
            interval = next(i for i in one.intervals if i.name == name)
            if _verdict(interval) == verdict:
                loads.append(one.load)
                means.append(_PERCENT * interval.mean)
                below.append(_PERCENT * max(interval.mean - interval.low, 0.0))
                above.append(_PERCENT * max(interval.high - interval.mean, 0.0))
        bars = axes.errorbar(
            loads, means, [below, above], fmt="o", markersize=4, capsize=2, color=colour
        )
        bars.set_label(verdict)
        tops += means
    limit = _PERCENT * next(i.limit for i in found.loads[0].intervals if i.name == name)
    axes.axhline(limit, color=ink(), linestyle="--", linewidth=1, label="limit")
    if found.low is not None and found.high is not None:
        axes.axvspan(found.low, found.high, color="#56b4e9", alpha=0.5, label="capacity")
    axes.set_xscale("log", base=2)
    axes.set_yscale("symlog", linthresh=limit)
    axes.set_ylim(0, 2 * max([limit, *tops]))
    axes.set_xticks([one.load for one in found.loads if _apart(one.load, found)])
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_ylabel(LIMITED[name][0])
    axes.spines[["top", "right"]].set_visible(False)


def _verdict(interval: Interval) -> str:
    """Whether this quantity meets its own limit; a load may fail by another one."""
    if interval.high <= interval.limit:
        return "pass"
    return "fail" if interval.low > interval.limit else "undecided"


def _apart(load: float, found: Capacity) -> bool:
    """Whether a load is labelled: both ends of the answer, and the ends of all."""
    return load in {found.low, found.loads[0].load, found.loads[-1].load}
