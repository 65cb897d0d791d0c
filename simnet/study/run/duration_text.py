"""Times as people say them."""

from __future__ import annotations

from typing import Final

__all__ = ["duration_text"]

_UNITS: Final = (("years", 31_557_600), ("days", 86_400), ("hours", 3600), ("minutes", 60))


def duration_text(seconds: float) -> str:
    """A time as a person says it: two digits, in the largest unit of which it has one."""
    for unit, scale in _UNITS:
        if seconds >= scale:
            amount = seconds / scale
            return f"{amount:,.0f} {unit}" if amount >= 10 else f"{amount:.1f} {unit}"  # noqa: PLR2004
    return f"{seconds:.0f} seconds"
