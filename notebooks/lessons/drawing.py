"""Colours and headings that the pictures of all lessons have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# colours that the common kinds of colour blindness tell apart (Okabe and Ito, 2008)
BLUE: Final = "#0072b2"
ORANGE: Final = "#e69f00"
GREEN: Final = "#009e73"
VERMILION: Final = "#d55e00"
GREY: Final = "#999999"


def heading(axes: Axes, text: str) -> None:
    """Say above a panel what to see in it."""
    axes.set_title(text, loc="left", fontsize="medium")
