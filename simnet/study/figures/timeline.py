"""The picture of a run over time: payload, CPUs and queues, cases one over the other."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simnet.study.explain.timeline import Timeline
from simnet.study.figures.style import AFTER, BEFORE

_WIDTH_INCHES: Final = 9.0
_PANEL_INCHES: Final = 1.15
_REST_INCHES: Final = 0.7
_COLOURS: Final = (BEFORE, AFTER)


def over_time(found: Mapping[str, Timeline]) -> Figure:
    """A panel for payload, for CPUs, and for each kind of queue in which anything waited."""
    waited = dict.fromkeys(
        kind for one in found.values() for kind, most in one.queues.items() if any(most)
    )
    panels: list[tuple[str, dict[str, Sequence[float]]]] = [
        ("Mbit/s", {name: [bits / 1e6 for bits in one.bits_per_s] for name, one in found.items()}),
        ("busy CPUs", {name: one.cpus for name, one in found.items()}),
    ]
    for kind in waited:
        longest = {name: one.queues.get(kind, ()) for name, one in found.items()}
        panels.append((f"{kind},\nthe fullest", dict(longest)))
    size = (_WIDTH_INCHES, _REST_INCHES + _PANEL_INCHES * len(panels))
    figure = Figure(figsize=size, layout="constrained")
    step_ms = 1000 * max(one.step_s for one in found.values())
    drawn = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (label, cases) in zip(drawn, panels, strict=True):
        _panel(axes, label, cases, step_ms)
    drawn[-1].set_xlabel(f"time (ms), steps of {step_ms:g} ms")
    if len(found) > 1:
        drawn[0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small")
    return figure


def _panel(axes: Axes, label: str, cases: Mapping[str, Sequence[float]], step_ms: float) -> None:
    for (name, values), colour in zip(cases.items(), _COLOURS, strict=False):
        if values:
            edges = [step_ms * number for number in range(len(values) + 1)]
            axes.stairs(values, edges, baseline=None, color=colour, linewidth=1.5, label=name)
    axes.set_ylabel(label, fontsize="small")
    axes.set_ylim(0, 1.1 * max(chain(*cases.values()), default=0) or 1.0)
    axes.spines[["top", "right"]].set_visible(False)
