"""The picture of a what-if: what each tuning does to the numbers that decide."""

from typing import Final, cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simnet.study.figures.style import BETTER, UNSURE, WORSE, about, fitted
from simnet.study.run.loss import kind_of
from simnet.study.run.measures import CPU_PER_BYTE, LOSS, MEDIAN, METRICS, RATE, REAL_TIME, TAIL
from simnet.study.whatif.verdict import MARGIN_PERCENT, Change, percent_text
from simnet.study.whatif.whatif import Judged, WhatIf

# top to bottom
_SHOWN: Final = (REAL_TIME, RATE, LOSS, TAIL, MEDIAN, CPU_PER_BYTE)
_SIZE_INCHES: Final = (10.0, 1.3)
_ROW_INCHES: Final = 0.27
_COLOURS: Final = "green: better, orange: worse, grey: perhaps neither"


def intervals(found: WhatIf, axes: Axes | None = None) -> Figure:
    """A dot and its 95 % interval for each metric of each tuning, best tuning at the top.

    Green is better and orange worse, grey has no difference within its interval. Without `axes` a
    figure of its own is made, outside of pyplot, so no display is needed.
    """
    rows: list[tuple[str, Change | None]] = []
    for judged in found.tunings:
        rows.append((f"{judged.tuning}: {judged.verdict}", None))
        rows += [(_label(one), one) for one in _shown(found, judged)]
    if axes is None:
        width, height = _SIZE_INCHES
        size = (width, height + _ROW_INCHES * len(rows))
        axes = Figure(figsize=size, layout="constrained").subplots()
    axes.axvspan(-MARGIN_PERCENT, MARGIN_PERCENT, color="#888888", alpha=0.3)
    for row, (_, change) in enumerate(rows):
        if change is not None and change.percent is not None and change.hull is not None:
            hull, colour = change.hull, _colour(change)
            axes.plot([hull.low, hull.high], [row, row], color=colour, linewidth=2)
            axes.plot([change.percent], [row], "o", color=colour)
            axes.annotate(
                percent_text(change), (1, row), (6, 0),
                xycoords=("axes fraction", "data"), textcoords="offset points",
                va="center", fontsize="small", color=colour,
            )  # fmt: skip
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    for label, (_, change) in zip(axes.get_yticklabels(), rows, strict=True):
        label.set_fontweight("bold" if change is None else "normal")
        label.set_fontsize("medium" if change is None else "small")
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    unit = fitted(axes)
    axes.set_xlabel(f"change ({unit}), 95 % interval; {_COLOURS}", fontsize="small")
    title = about(found.scenario, found.base_tunings, found.settings, "what each tuning would do")
    axes.set_title(title, fontsize="medium", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    return cast("Figure", axes.get_figure(root=True))


def _shown(found: WhatIf, judged: Judged) -> list[Change]:
    """Changes that count or decided, what work costs, and beside a tail its median."""
    wanted = {*found.judged_by, *(one.decided_by for one in found.tunings), CPU_PER_BYTE}
    wanted |= {MEDIAN} if TAIL in wanted else set()
    known = {one.metric: one for one in judged.changes if one.percent is not None and one.hull}
    return [known[metric] for metric in _SHOWN if metric in wanted and metric in known]


def _label(change: Change) -> str:
    measure = METRICS[change.metric]
    said = measure.said.format(latency=kind_of([change.latency_kind]) or "latency")
    return f"{said}, {'more' if measure.largest else 'less'} is better"


def _colour(change: Change) -> str:
    """Of the side on which the whole interval is."""
    if change.direction not in {"more", "less"}:
        return UNSURE
    return BETTER if (change.direction == "more") == METRICS[change.metric].largest else WORSE
