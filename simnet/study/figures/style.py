"""What pictures share: titles in lines that fit, colours that mean something, axes of changes."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Final

import matplotlib as mpl

from simnet.printable import titled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes

# before and after, as everywhere in a report
BEFORE: Final = "#7a8797"
AFTER: Final = "#0072b2"
# colours that the common kinds of colour blindness tell apart (Okabe and Ito, 2008)
BETTER: Final = "#009e73"
WORSE: Final = "#d55e00"
UNSURE: Final = "#888888"
# what a CPU does, each with its label and colour, in the order in which one interrupts the other
CONTEXTS: Final = (
    ("user", "user", "#009e73"),
    ("system", "system (process in the kernel)", "#0072b2"),
    ("softirq", "softirq", "#e69f00"),
    ("irq", "hard interrupt", "#d55e00"),
)
# a longer axis has a logarithm's steps beyond its first part, lest all else were one point
_LONGEST_PERCENT: Final = 200.0
_LINEAR_PERCENT: Final = 20.0
_TICKS: Final = (-100, -50, -20, 0, 20, 50, 100, 200, 500, 1000, 10_000, 100_000)

_COLUMNS: Final = 100
# of an axis: the least from one tick to the next
_APART: Final = 0.06


def about(
    scenario: str,
    tunings: Iterable[str],
    settings: Mapping[str, str],
    sentence: str,
    *,
    columns: int = _COLUMNS,
) -> str:
    """What is so of a scenario with everything that is set in it."""
    return wrapped(f"{titled(scenario, tunings, sorted(settings.items()))}: {sentence}", columns)


def wrapped(text: str, columns: int = _COLUMNS) -> str:
    """In lines of so many letters."""
    return "\n".join(wrap(text, columns))


def ink() -> str:
    """The colour of text: black, or what a dark page has in its place."""
    return str(mpl.rcParams["text.color"])


def fitted(axes: Axes) -> str:
    """Make room for long changes across; return the unit, and which scale that is."""
    if max(map(abs, axes.get_xlim())) <= _LONGEST_PERCENT:
        return "%"
    axes.set_xscale("symlog", linthresh=_LINEAR_PERCENT)
    low, high = axes.get_xlim()
    axes.set_xticks(_apart(axes, [tick for tick in _TICKS if low <= tick <= high]))
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.minorticks_off()
    return f"%, log scale beyond {_LINEAR_PERCENT:g} %"


def _apart(axes: Axes, ticks: Sequence[int]) -> list[int]:
    """Those that have room beside each other, from 0 on to both sides."""
    place = axes.transData - axes.transAxes
    found: list[int] = []
    for tick in sorted(ticks, key=abs):
        across = place.transform((tick, 0))[0]
        if all(abs(across - place.transform((one, 0))[0]) >= _APART for one in found):
            found.append(tick)
    return sorted(found)
