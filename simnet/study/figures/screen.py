"""The picture of a screening: a tornado of what matters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from matplotlib.figure import Figure

if TYPE_CHECKING:
    from simnet.study.screen.document import Screen

__all__ = ["tornado"]

_LABELS: Final = {
    "throughput": "throughput",
    "cpu_per_byte": "CPU time per byte",
    "latency_p99": "p99 latency",
}
_SHOWN: Final = 15
_WIDTH_INCHES, _HEIGHT_INCHES, _INCHES_A_ROW = 9.0, 1.4, 0.3
# colours that the common kinds of colour blindness tell apart (Okabe and Ito, 2008)
_BAR, _DOT = "#56b4e9", "#0072b2"


def tornado(found: Screen) -> Figure:
    """The range of changes by each factor, and each end of it, what matters most on top."""
    shown = [one for one in found.factors if one.turns][:_SHOWN]
    height = _HEIGHT_INCHES + _INCHES_A_ROW * len(shown)
    figure = Figure(figsize=(_WIDTH_INCHES, height), layout="constrained")
    axes = figure.subplots()
    chance = 2 * found.chance.get(found.metric, 0.0)
    axes.axvspan(-chance, chance, color="#dddddd", label="chance")
    for row, one in enumerate(shown):
        effect = one.effect(found.metric)
        axes.barh(row, effect.high - effect.low, 0.6, left=effect.low, color=_BAR)
        axes.plot([effect.low, effect.high], [row, row], "|", color=_DOT, markersize=10)
    axes.set_yticks(range(len(shown)), [one.name for one in shown])
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.use_sticky_edges = False  # a bar begins where its value does, not at the frame
    axes.margins(x=0.05)
    label = _LABELS[found.metric]
    axes.set_xlabel(f"change of {label} by a later value (100 x logarithm of the ratio)")
    axes.set_title(f"{found.scenario}: what changes {label}", fontsize="medium", loc="left")
    axes.legend(loc="lower right", fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)
    return figure
