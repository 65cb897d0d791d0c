"""The picture of an explanation: how full each resource is, the fullest on top."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Final, cast

from matplotlib.figure import Figure

from simnet.study.explain.bottleneck import FULL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from simnet.study.explain.bottleneck import ResourceUse
    from simnet.study.explain.explain import Explanation

__all__ = ["utilisations"]

# contexts of a CPU as in the picture of a result; colours that the common kinds of colour
# blindness tell apart (Okabe and Ito, 2008)
_CONTEXTS: Final = (
    ("irq", "hard interrupt", "#d55e00"),
    ("softirq", "softirq", "#e69f00"),
    ("system", "system (process in the kernel)", "#0072b2"),
    ("user", "user", "#009e73"),
    ("steal", "stolen", "#cc79a7"),
)
_WHOLE: Final = ("busy", "#56b4e9")
_NOT_SIMULATED: Final = ("by the data sheet, nothing waits for it", "#bbbbbb")
_MOST_BARS: Final = 16
_LEAST: Final = 0.01
_BAR_INCHES: Final = 0.28
_WIDTH_INCHES: Final = 10.5
_FEW_LIMITS: Final = 3
_TITLE_WIDTH: Final = 90


def utilisations(found: Explanation, axes: Axes | None = None) -> Figure:
    """Horizontal bars of utilisation in percent, the bar of a CPU split by context.

    The 16 fullest resources are drawn, those below 1 % left out. Without `axes` a figure of its
    own is made, outside of pyplot, so no display is needed.
    """
    shown = [one for one in found.resources if one.utilisation >= _LEAST][:_MOST_BARS]
    if axes is None:
        size = (_WIDTH_INCHES, 2.2 + _BAR_INCHES * max(len(shown), 1))
        axes = Figure(figsize=size, layout="constrained").subplots()
    labelled: set[str] = set()
    for place, one in enumerate(shown):
        _bar(axes, place, one, labelled)
        note = f"{100 * one.utilisation:.0f} %"
        if one.drops:
            note += f", {one.drops:,} drops"
        axes.annotate(
            note,
            (100 * one.utilisation, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
        )
    axes.axvline(100 * FULL, color="0.5", linestyle=":", linewidth=1)
    axes.set_yticks(range(len(shown)), [one.name for one in shown])
    axes.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    axes.set_xlim(0, max(112.0, 100 * max((one.utilisation for one in shown), default=0) + 12))
    axes.set_xlabel("used, % of what it can (dotted: full)")
    axes.set_title(_title(found), fontsize="medium", loc="left")
    if labelled:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)
    return cast("Figure", axes.get_figure(root=True))


def _bar(axes: Axes, place: int, one: ResourceUse, labelled: set[str]) -> None:
    parts = [(label, colour, one.split.get(name, 0.0)) for name, label, colour in _CONTEXTS]
    if not any(share for _, _, share in parts):
        parts = [(*(_WHOLE if one.simulated else _NOT_SIMULATED), one.utilisation)]
    left = 0.0
    for label, colour, share in parts:
        if share:
            bar = axes.barh(place, 100 * share, left=left, height=0.75, color=colour)
            if label not in labelled:
                labelled.add(label)
                bar.set_label(label)
            left += 100 * share


def _title(found: Explanation) -> str:
    lines = [f"{found.scenario}: {found.throughput_bps / 1e6:,.0f} Mbit/s"]
    for one in found.limits[:_FEW_LIMITS]:
        who = f"{', '.join(one.flows[:2])}{' ...' if len(one.flows) > 2 else ''}: "  # noqa: PLR2004
        line = f"{who if one.flows and len(found.limits) > 1 else ''}{one.sentence}"
        lines += wrap(line, _TITLE_WIDTH, subsequent_indent="    ")
    if len(found.limits) > _FEW_LIMITS:
        lines.append(f"and {len(found.limits) - _FEW_LIMITS} more")
    return "\n".join(lines)
