"""Pictures of the documentation with few colours: a fraction of the bytes."""

from __future__ import annotations

import io
from typing import Final

from PIL import Image

_COLOURS: Final = 32


def small(png: bytes) -> bytes:
    """Return the same picture as a PNG with a palette."""
    kept = io.BytesIO()
    few = Image.open(io.BytesIO(png)).convert("RGB").quantize(_COLOURS)
    few.save(kept, format="png", optimize=True)
    return kept.getvalue()
