"""Titles of pictures: what is shown, and with which settings, in lines that fit."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Final

from simnet.printable import titled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["about", "wrapped"]

_COLUMNS: Final = 100


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
