"""Numbers as squares: by CPU, in rows of cases; ways between CPUs; a sweep over two knobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from matplotlib.patches import Rectangle

from simnet.study.figures.sweep import varied

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from numpy.typing import ArrayLike

    from simnet.study.sweep.sweep import Sweep

_DARK: Final = 60
_CPUS: Final = range(8)
_MOST_PERCENT: Final = 15


def rows(
    axes: Axes, values: ArrayLike, names: Sequence[str], colours: str, most: float | None = None
) -> AxesImage:
    """Draw a row of squares for each case, one a CPU, with its number in it.

    Args:
        axes: to draw into.
        values: shape (cases, CPUs).
        names: of the cases.
        colours: name of a colour map.
        most: what is darkest; the largest value when None.
    """
    grid = np.asarray(values)
    image = axes.imshow(grid, cmap=colours, aspect="auto", vmin=0, vmax=most)
    for (row, cpu), value in np.ndenumerate(grid):
        ink = "white" if value > _DARK else "black"
        text = f"{value:.0f}"
        axes.text(cpu, row, text, ha="center", va="center", color=ink, fontsize="small")
    axes.set_xticks(range(grid.shape[1]))
    axes.set_yticks(range(len(names)), list(names))
    axes.set_xlabel("CPU (number)")
    return image


def matrix(axes: Axes, seen: pd.DataFrame, source: str, target: str, name: str) -> AxesImage:
    """Draw which share of all packets goes from which CPU to which.

    Args:
        axes: to draw into.
        seen: a row a packet, see `lessons.relay.packets`.
        source: column of the CPU that it comes from.
        target: column of the CPU that it goes to.
        name: of the case.
    """
    edges = range(len(_CPUS) + 1)
    counts, _, _ = np.histogram2d(seen[source], seen[target], bins=(edges, edges))
    share = 100 * counts / len(seen)
    image = axes.imshow(share, cmap="Blues", vmin=0, vmax=_MOST_PERCENT)
    axes.set_xticks(_CPUS)
    axes.set_yticks(_CPUS)
    axes.set_ylabel(f"{source}'s CPU (number)")
    axes.set_xlabel(f"{target}'s CPU (number)")
    axes.set_title(f"{name}\nsame CPU: {np.trace(share):.0f} %", loc="left", fontsize="medium")
    return image


def throughput_plane(found: Sweep, axes: Axes) -> AxesImage:
    """Draw a square a pair of values, in MB/s; outlined: may be the best, with 95 % confidence.

    The first knob goes up, the second to the right.
    """
    best = found.optimum()
    up, across = varied(best)
    rows, columns = best.axes[up], best.axes[across]
    values = np.full((len(rows), len(columns)), np.nan)
    for number, cell in enumerate(best.cells):
        row, column = rows.index(cell.settings[up]), columns.index(cell.settings[across])
        estimate = cell.estimate("throughput_bps")
        values[row, column] = np.nan if estimate is None else estimate.mean / 8e6
        if best.members is not None and number in best.members:
            corner = (column - 0.46, row - 0.46)
            axes.add_patch(Rectangle(corner, 0.92, 0.92, fill=False, ec="red", lw=1.5))
    image = axes.imshow(values, origin="lower", aspect="auto", vmin=0, vmax=1.15 * values.max())
    for (row, column), value in np.ndenumerate(values):
        axes.text(column, row, f"{value:.0f}", ha="center", va="center", fontsize=8)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    return image
