"""The picture of where the load is: every logical CPU of a machine, systems side by side."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from simnet.host.cpulist import cpulist_text
from simnet.study.run.result import Result
from simnet.study.run.rows import CpuUse

_COLUMNS: Final = 2
_MOST_IN_A_ROW: Final = 16
_FEWEST_IN_A_ROW: Final = 8
_SIZE_INCHES: Final = (5.6, 2.2)
# of a panel: each row, all else, and how high it gets; rows that are lower have no numbers
_ROW_INCHES: Final = 0.26
_REST_INCHES: Final = 0.9
_HIGHEST_INCHES: Final = 6.0
# points: 14 pixels where a report shows it in full width
_LETTERS: Final = 10
# an idle CPU has no colour: it is as the paper is, in the dark, too
_COLOURS: Final = LinearSegmentedColormap.from_list(
    "busy", ["#b3160a00", "#b3160aa8", "#b3160aff"], N=25
)
_WRITTEN_PERCENT: Final = 1.0
_DARK_PERCENT: Final = 60.0


def cpu_heat(results: Mapping[str, Result], figure: Figure | None = None) -> Figure:
    """One panel a result, named by its key: a square a logical CPU, a row up to 16 of a NUMA node.

    Colour and number are the percent of the time in which the CPU was busy; numbers below 1 %
    are left out, and all where they would be too small to read. Without `figure` one is made,
    outside of pyplot, so no display is needed.
    """
    columns = min(_COLUMNS, len(results)) or 1
    rows = math.ceil(len(results) / columns) or 1
    if figure is None:
        tallest = max((len(_rows(one)) for one in results.values()), default=1)
        height = min(max(_SIZE_INCHES[1], _REST_INCHES + _ROW_INCHES * tallest), _HIGHEST_INCHES)
        size = (columns * _SIZE_INCHES[0], rows * height)
        figure = Figure(figsize=size, layout="constrained")
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    image = None
    for (name, result), axes in zip(results.items(), panels, strict=False):
        image = _panel(result, axes)
        total = sum(cpu.busy for cpu in result.cpus)
        title = f"{name}: {total:.0f} % of one CPU in all"
        axes.set_title(title, fontsize="medium", loc="left")
    for axes in panels[len(results) :]:
        axes.set_axis_off()
    if image is not None:
        figure.colorbar(image, ax=panels, label="busy (% of one CPU)", aspect=30)
    return figure


def _rows(result: Result) -> list[Sequence[CpuUse]]:
    """The CPUs of each node, so many a row."""
    return [
        cpus[first : first + _MOST_IN_A_ROW]
        for node in sorted({cpu.node for cpu in result.cpus})
        for cpus in [[cpu for cpu in result.cpus if cpu.node == node]]
        for first in range(0, len(cpus), _MOST_IN_A_ROW)
    ]


def _panel(result: Result, axes: Axes) -> QuadMesh:
    rows = _rows(result)
    readable = _REST_INCHES + _ROW_INCHES * len(rows) <= _HIGHEST_INCHES
    width = max(map(len, rows))
    grid = np.full((len(rows), width), np.nan)
    for row, cpus in enumerate(rows):
        for column, cpu in enumerate(cpus):
            grid[row, column] = cpu.busy
            if readable and cpu.busy >= _WRITTEN_PERCENT:
                busy = f"{cpu.busy:.0f}"
                shown = axes.text(column, row, busy, ha="center", va="center", fontsize=_LETTERS)
                if cpu.busy >= _DARK_PERCENT:
                    shown.set_color("white")
    image = axes.pcolormesh(
        np.arange(-0.5, width), np.arange(-0.5, len(rows)), grid,
        cmap=_COLOURS, vmin=0, vmax=100, edgecolors="#88888866", linewidth=0.5,
    )  # fmt: skip
    axes.set_ylim(len(rows) - 0.5, -0.5)
    # few CPUs are no giants
    axes.set_xlim(-0.5, max(width, _FEWEST_IN_A_ROW) - 0.5)
    labels = [f"{cpus[0].node}: {cpulist_text(cpu.id for cpu in cpus)}" for cpus in rows]
    axes.set_yticks(range(len(rows)), labels, fontsize="small")
    axes.set_xticks(range(width), list(map(str, range(width))), fontsize="x-small")
    axes.set_xlabel("logical CPU, counted within its row (number)", fontsize="small")
    axes.set_ylabel("node: its CPUs (ids)", fontsize="small")
    return image
