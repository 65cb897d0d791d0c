"""Numbers by CPU as squares: rows of cases, and ways from one CPU to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from numpy.typing import ArrayLike

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
