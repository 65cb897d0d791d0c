"""A sweep over two knobs as a lesson draws it: a square a pair, with its throughput in it."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from simnet.study.figures.sweep import varied
from simnet.study.sweep.sweep import Sweep


def throughput_plane(found: Sweep, axes: Axes) -> AxesImage:
    """Draw throughput in MB/s; outlined: may be the best, with 95 % confidence.

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
