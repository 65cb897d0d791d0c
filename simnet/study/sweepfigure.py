"""The picture of a sweep: throughput and CPU time over one knob, one line for all the others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from matplotlib.figure import Figure

from simnet.scenario.units import KINDS, UnitError, parse_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.study.sweep import Sweep

_SIZE_INCHES: Final = (10.0, 4.8)
_PANELS: Final = (
    ("throughput_bps", "throughput (Mbit/s)", 1e-6),
    ("cpu_busy_percent", "CPUs busy (%, mean of all)", 1.0),
)
# from this ratio of largest to smallest value on, even spacing hides the small ones
_WIDE: Final = 20
_MOST_LEGEND: Final = 12
_NUMBER: Final = re.compile(r"[+-]?\d[\d_]*(?:\.\d+)?")


def lines(found: Sweep) -> Figure:
    """Two panels over the knob with the most values; text values are evenly spaced."""
    figure = Figure(figsize=_SIZE_INCHES, layout="constrained")
    rows = found.rows()
    names = [*found.knobs, *(["tuning"] if found.tuned else [])]
    across = max(names, key=lambda name: len({row[name] for row in rows}))
    labels = list(dict.fromkeys(row[across] for row in rows))
    numbers = _numbers(labels)
    places = dict(zip(labels, numbers or range(len(labels)), strict=True))
    others = [name for name in names if name != across]
    for axes, (column, label, scale) in zip(figure.subplots(1, 2), _PANELS, strict=True):
        for key, line in _lines(rows, others).items():
            points = sorted((places[row[across]], scale * row[column]) for row in line)
            axes.plot(*zip(*points, strict=True), marker="o", markersize=3, label=", ".join(key))
        if numbers and min(numbers) > 0 and max(numbers) >= _WIDE * min(numbers):
            axes.set_xscale("log", base=2)
        axes.set_xticks([places[text] for text in labels], labels, rotation=60, ha="right")
        axes.set_xticks([], minor=True)
        axes.set_xlabel(across)
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
        axes.spines[["top", "right"]].set_visible(False)
    handles, shown = figure.axes[0].get_legend_handles_labels()
    if others and len(shown) <= _MOST_LEGEND:
        figure.legend(handles, shown, title=", ".join(others), loc="outside right upper")
    figure.suptitle(f"{found.scenario}: {len(rows)} runs", fontsize="medium", x=0.01, ha="left")
    return figure


def _lines(
    rows: Sequence[dict[str, Any]], others: Sequence[str]
) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(tuple(str(row[name]) or "none" for name in others), []).append(row)
    return found


def _numbers(texts: Sequence[str]) -> list[float] | None:
    """The values as numbers in one unit; None where they are not all of one kind."""
    if all(_NUMBER.fullmatch(text) for text in texts):
        return [float(text) for text in texts]
    for kind in KINDS.values():
        try:
            return [float(parse_quantity(text, kind)) for text in texts]
        except UnitError:
            continue
    return None
