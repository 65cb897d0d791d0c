"""The pictures of results."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def drawn(picture: str, *given: Any) -> Figure:
    """Return the picture ``MODULE:FUNCTION`` of this package, of what is given.

    A picture knows what it shows, and that finds it by name when it is asked for: matplotlib takes
    longer to load than a short run.
    """
    module, name = picture.split(":")
    figure: Figure = getattr(import_module(f"{__name__}.{module}"), name)(*given)
    return figure
