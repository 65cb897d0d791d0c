"""The picture of a what-if: what each tuning does to the numbers that decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from matplotlib.figure import Figure

from simnet.study.figures.titles import about
from simnet.study.run.loss import kind_of
from simnet.study.run.measures import CPU_PER_BYTE, METRICS, RATE, REAL_TIME, TAIL
from simnet.study.whatif.verdict import MARGIN_PERCENT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from simnet.study.whatif.verdict import Change
    from simnet.study.whatif.whatif import Judged, WhatIf

# colours that the common kinds of colour blindness tell apart (Okabe and Ito, 2008)
_SHOWN = {REAL_TIME: "#009e73", RATE: "#0072b2", TAIL: "#cc79a7", CPU_PER_BYTE: "#d55e00"}
# between the lines of a tuning
_STEP = 0.2
# a longer axis has a logarithm's steps beyond its first part, lest all else were one point
_LONGEST_PERCENT, _LINEAR_PERCENT = 200.0, 10.0
_SIZE_INCHES = (9.0, 1.6)
_INCHES_A_TUNING = 0.7


def intervals(found: WhatIf, axes: Axes | None = None) -> Figure:
    """A dot and its 95 % interval for each tuning and metric, best tuning at the top.

    Without `axes` a figure of its own is made, outside of pyplot, so no display is needed.
    """
    if axes is None:
        width, height = _SIZE_INCHES
        size = (width, height + _INCHES_A_TUNING * len(found.tunings))
        axes = Figure(figsize=size, layout="constrained").subplots()
    axes.axvspan(-MARGIN_PERCENT, MARGIN_PERCENT, color="#888888", alpha=0.3, label="no difference")
    shown = [metric for metric in _SHOWN if metric in _deciding(found)]
    most = 0.0
    for metric, colour in _SHOWN.items():
        better = "more" if METRICS[metric].largest else "less"
        said = METRICS[metric].said.format(latency=_latency_kind(found) or "latency")
        said = f"{said} ({better} is better)"
        for row, judged in enumerate(found.tunings):
            change = _change(judged, metric) if metric in shown else None
            hull = change.hull if change else None
            if change is None or change.percent is None or hull is None:
                continue
            height = row + _STEP * (shown.index(metric) - (len(shown) - 1) / 2)
            axes.plot([hull.low, hull.high], [height, height], color=colour, linewidth=2)
            axes.plot([change.percent], [height], "o", color=colour, label=said)
            most, said = max(most, -hull.low, hull.high), "_"
    if most > _LONGEST_PERCENT:
        axes.set_xscale("symlog", linthresh=_LINEAR_PERCENT)
        axes.xaxis.set_major_formatter("{x:g}")
    names = [f"{judged.tuning}: {judged.verdict}" for judged in found.tunings]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("change (%), 95 % interval")
    title = about(found.scenario, found.base_tunings, found.settings, "what each tuning would do")
    axes.set_title(title, fontsize="medium", loc="left")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)
    return cast("Figure", axes.get_figure(root=True))


def _latency_kind(found: WhatIf) -> str:
    tails = (_change(judged, TAIL) for judged in found.tunings)
    return kind_of(change.latency_kind for change in tails if change)


def _deciding(found: WhatIf) -> set[str]:
    """Metrics that are shown: those that count or decided, and what work costs."""
    decided = {judged.decided_by for judged in found.tunings}
    metrics = {change.metric for judged in found.tunings for change in judged.changes}
    return metrics & {*found.judged_by, *decided, CPU_PER_BYTE}


def _change(judged: Judged, metric: str) -> Change | None:
    return next((one for one in judged.changes if one.metric == metric), None)
