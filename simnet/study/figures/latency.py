"""The picture of latencies: which share is later than a time, cases side by side."""

from collections.abc import Mapping, Sequence
from typing import Final, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from simnet.study.figures.style import AFTER, BEFORE

_SIZE_INCHES: Final = (9.0, 3.6)
# colours that the common kinds of colour blindness tell apart (Okabe and Ito, 2008)
_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
_PAIR: Final = (BEFORE, AFTER)
_QUANTILES: Final = ((0.5, "p50"), (0.01, "p99"), (0.001, "p99.9"))


def later_curves(
    found: Mapping[str, Sequence[tuple[float, int]]], axes: Axes | None = None, *, kind: str = ""
) -> Figure:
    """A curve a case, named by its key: the share of the samples that are later than a latency.

    `kind` says what the latencies are. Histograms are pairs of upper edge in us and number,
    ascending. Both scales are logarithmic.
    Without `axes` a figure of its own is made, outside of pyplot.
    """
    if axes is None:
        axes = Figure(figsize=_SIZE_INCHES, layout="constrained").subplots()
    colours = _PAIR if len(found) == len(_PAIR) else _COLOURS
    least = 1.0
    for number, (name, histogram) in enumerate(found.items()):
        edges = np.array([upper for upper, _ in histogram])
        counts = np.array([count for _, count in histogram], dtype=float)
        if not counts.sum():
            continue
        later = 1 - np.cumsum(counts) / counts.sum()
        least = min(least, 1 / counts.sum())
        colour = colours[number % len(colours)]
        axes.step(edges, np.maximum(later, 1e-12), where="post", color=colour, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(max(least, 1e-5), 1.2)
    for share, name in _QUANTILES:
        if share >= least:
            axes.axhline(share, color="0.6", linewidth=0.7, linestyle=":")
            axes.annotate(
                name, (1, share), (3, 0), xycoords=("axes fraction", "data"),
                textcoords="offset points", va="center", fontsize="small",
            )  # fmt: skip
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    axes.minorticks_off()
    axes.set_title("How many are later than a time", fontsize="medium", loc="left")
    axes.set_xlabel(f"{kind or 'latency'} (us)")
    axes.set_ylabel("share of samples that are later")
    axes.legend(loc="upper right", fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)
    return cast("Figure", axes.get_figure(root=True))
