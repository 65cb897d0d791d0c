"""A figure of Matplotlib as SVG within a page: readable in dark and light, named for readers.

Text stays text. What has no colour of its own has that of the page (`currentColor`). Every id gets
a prefix: several figures stand in one page. A title and a description say what is to be seen.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as ET

import matplotlib as mpl
from defusedxml.ElementTree import fromstring
from markupsafe import Markup
from matplotlib.ticker import LogFormatter

from simnet.files import figure_bytes
from simnet.report.html.blocks import Picture
from simnet.report.html.numbers import written
from simnet.study.figures.style import AFTER, BEFORE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SVG: Final = "http://www.w3.org/2000/svg"
_XLINK: Final = "http://www.w3.org/1999/xlink"
# stands for the page's own colour until the picture is written
_INK: Final = "#010203"
_STYLE: Final[Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "simnet",
    "text.parse_math": False,  # a dollar sign in a name is one
    "savefig.facecolor": "none",
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "legend.frameon": False,
    "text.color": _INK,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
}
# of its size, as small as a picture may become: smaller ones are scrolled
_LEAST: Final = 0.8
_REFERENCE: Final = re.compile(r"url\(#([^)]+)\)")


def picture(name: str, draw: Callable[[], Figure], caption: str, description: str) -> Picture:
    """Draw a figure for a page.

    Args:
        name: of the figure, different from all others of the page: letters, digits and hyphens.
        draw: makes the figure.
        caption: what it shows, one line.
        description: what can be read from it, for those who cannot see it.
    """
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # characters that the font lacks are the browser's to draw; texts may be any length
        warnings.simplefilter("ignore", UserWarning)
        figure = draw()
        for axes in figure.axes:
            for axis in (axes.xaxis, axes.yaxis):
                if isinstance(axis.get_major_formatter(), LogFormatter):
                    axis.set_major_formatter("{x:g}")  # its own writes formulas
        drawn = figure_bytes(figure, "svg", metadata={"Date": None})
    root = fromstring(bytes(drawn))
    for unwanted in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(unwanted)
    _rename(root, name)
    width = root.attrib.pop("width")
    root.attrib.pop("height")
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title {name}-desc")
    root.set("style", f"max-width:{width};min-width:calc({width}*{_LEAST})")
    for place, (tag, text) in enumerate((("title", caption), ("desc", description))):
        named = ET.Element(f"{{{_SVG}}}{tag}", {"id": f"{name}-{tag}"})
        named.text = text
        root.insert(place, named)
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _XLINK)
    text = ET.tostring(root, encoding="unicode").replace(_INK, "currentColor")
    if BEFORE in text:  # they have the page's colours, which differ in the dark
        text = text.replace(BEFORE, "var(--before)").replace(AFTER, "var(--after)")
    return Picture(caption, Markup(text))  # noqa: S704 (written by the serialiser, which escapes)


def _rename(root: Any, name: str) -> None:
    """Put a name before every id, and write numbers of texts as a report does."""
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == "id":
                element.set(key, f"{name}-{value}")
            elif key == f"{{{_XLINK}}}href" and value.startswith("#"):
                element.set(key, f"#{name}-{value[1:]}")
            elif "url(#" in value:
                element.set(key, _REFERENCE.sub(rf"url(#{name}-\1)", value))
        if element.tag == f"{{{_SVG}}}text" and element.text:
            element.text = written(element.text)
