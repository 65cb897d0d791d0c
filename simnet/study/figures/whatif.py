"""The picture of a what-if: what each tuning does to jobs, throughput and CPU time per byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from matplotlib.figure import Figure

from simnet.study.whatif.verdict import CPU_PER_BYTE, MARGIN_PERCENT, REAL_TIME, THROUGHPUT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from simnet.study.whatif.whatif import WhatIf

# colours that the common kinds of colour blindness tell apart (Okabe and Ito, 2008)
_SHOWN = (
    (REAL_TIME, "real time of the jobs (less is better)", "#009e73", 0.0),
    (THROUGHPUT, "throughput (more is better)", "#0072b2", -0.12),
    (CPU_PER_BYTE, "CPU time per byte (less is better)", "#d55e00", 0.12),
)
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
    axes.axvspan(-MARGIN_PERCENT, MARGIN_PERCENT, color="#dddddd", label="no difference")
    for metric, label, colour, offset in _SHOWN:
        for row, judged in enumerate(found.tunings):
            change = next((one for one in judged.changes if one.metric == metric), None)
            hull = change.hull if change else None
            if change is None or change.percent is None or hull is None:
                continue
            height = row + offset
            axes.plot([hull.low, hull.high], [height, height], color=colour, linewidth=2)
            label_once = label if row == 0 else None
            axes.plot([change.percent], [height], "o", color=colour, label=label_once)
    names = [f"{judged.tuning}: {judged.verdict}" for judged in found.tunings]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("change (%), 95 % interval")
    axes.set_title(f"{found.scenario}: what each tuning would do", fontsize="medium", loc="left")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)
    return cast("Figure", axes.get_figure(root=True))
