"""A connection behind a reorder window: goodput over the window, and how delivery goes on.

See `simnet.study.validate.reorder_comparison` for the connection and for the measurements.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lessons.drawing import BLUE, GREEN, GREY, VERMILION
from simnet.study.conform.tcp_path import TcpOptions
from simnet.study.validate.reorder_comparison import (
    CLASSIC,
    DURATION_PS,
    connection,
    measured,
    simulate,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_US: Final = 10**6
_MS: Final = 10**9
_SEEDS: Final = (1, 2)
_WIDTHS: Final = (0, 4, 8, 16, 20, 24, 32, 80)


# segments leave one by one, so that a picture shows each of them
PACED: Final = replace(CLASSIC, hz=1000, tso=False)


@dataclass(frozen=True)
class Case:
    """What is lost, and what the window does about a hole.

    Attributes:
        name: of its curve.
        loss: share of packets.
        flush_us: after which the window gives a hole up; 0 for never.
        colour: of its curve.
    """

    name: str
    loss: float
    flush_us: int
    colour: str


CASES: Final = (
    Case("nothing lost", 0.0, 0, BLUE),
    Case("1 of 1000 lost", 0.001, 0, VERMILION),
    Case("1 of 1000 lost, flush timer 1.5 ms", 0.001, 1500, GREEN),
)


def goodput(axes: Axes) -> None:
    """Draw goodput over the width of the window, the mean of two seeds, and what Linux had."""
    for case in CASES:
        rates = [_mbit_per_s(case, width) for width in _WIDTHS]
        axes.plot(_WIDTHS, rates, "-", color=case.colour, label=case.name)
    for (loss, width), row in measured().items():
        if width <= max(_WIDTHS):
            axes.plot(width, row.mbit_per_s, "o", color=VERMILION if loss else BLUE, mfc="none")
    axes.plot([], [], "o", color=GREY, mfc="none", label="Linux, measured")
    axes.set_xlabel("reorder window W (packets)")
    axes.set_ylabel("goodput (Mbit/s)")
    axes.set_ylim(0)
    axes.legend(loc="center right")


def _mbit_per_s(case: Case, width: int) -> float:
    flush_ps = case.flush_us * _US
    runs = [simulate(width, loss=case.loss, flush_timeout_ps=flush_ps, seed=s) for s in _SEEDS]
    return float(np.mean([run.mbit_per_s for run in runs]))


def delivery(axes: Axes, width: int, tcp: TcpOptions = PACED) -> None:
    """Draw what has been delivered over time behind a window of `width` packets."""
    for case in CASES:
        run = connection(width, loss=case.loss, flush_timeout_ps=case.flush_us * _US, tcp=tcp)
        ms, mbytes = [], []
        while run.sim.now < DURATION_PS:
            run.run_for(2 * _MS)
            ms.append(run.sim.now / _MS)
            mbytes.append(run.right.delivered / 1e6)
        label = f"{case.name}: {run.left.sender.timeouts} timeouts"
        axes.plot(ms, mbytes, color=case.colour, label=label)
    axes.set_xlabel("time (ms)")
    axes.set_ylabel("delivered (Mbyte)")
    axes.legend(title=f"W = {width}", loc="center right")
