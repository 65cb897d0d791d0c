"""Pictures of the documentation: of notebooks with few colours, of the gallery as SVG."""

import io
import re
from collections.abc import Callable
from typing import Final

from matplotlib.figure import Figure
from PIL import Image

from simnet.report.html.svg import picture
from simnet.study.figures.style import AFTER, BEFORE

_COLOURS: Final = 32
# as in a report; a page that is dark says so to the pictures on it
_STYLE: Final = (
    f"<style>svg {{ color: #1c2430; --before: {BEFORE}; --after: {AFTER}; }}"
    " @media (prefers-color-scheme: dark) { svg { color: #e4e9f0; --after: #56b4e9; } }</style>"
)


def small(png: bytes) -> bytes:
    """Return the same picture as a PNG with a palette."""
    kept = io.BytesIO()
    few = Image.open(io.BytesIO(png)).convert("RGB").quantize(_COLOURS)
    few.save(kept, format="png", optimize=True)
    return kept.getvalue()


def crisp(name: str, draw: Callable[[], Figure]) -> str:
    """Return a figure as a file of SVG that is transparent, and readable in dark and light."""
    svg = str(picture(name, draw, name, "").svg)
    width, height = re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)[0]
    sized = re.sub(
        r' style="max-width:[^"]*"', f' width="{width}pt" height="{height}pt"', svg, count=1
    )
    return re.sub(r"(<svg[^>]*>)", rf"\1{_STYLE}", sized, count=1) + "\n"
