"""Text of strangers made safe to print: names of files, values, descriptions, whatever was typed.

A terminal obeys some characters (ESC begins a command to it, BEL rings, others turn the direction
of writing), a line end ends a comment within commands to paste, and bytes of a name that are no
UTF-8 cannot be printed at all. They are shown as JSON writes them, so that JSON in which
they are replaced stays the same JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["few", "lines", "one_line", "printable", "titled"]

_LONGEST: Final = 2000
# names that a sentence has
_MOST: Final = 4


def printable(text: str, kept: str = "") -> str:
    """Return a text with every character escaped that is not for reading, except those to keep."""
    if text.isprintable():
        return text
    return "".join(c if c in kept or c.isprintable() else _escaped(c) for c in text)


def lines(text: str) -> str:
    """Return a text of many lines with everything else escaped that is not for reading."""
    return "\n".join(printable(line, "\t") for line in text.split("\n"))


def one_line(text: str) -> str:
    """Return a message as one line that a person can read, the middle of a huge one left out."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"
    return printable(text)


def few(names: Sequence[str]) -> str:
    """Return the first names with commas between, and dots for the others."""
    return ", ".join(names[:_MOST]) + (", ..." if len(names) > _MOST else "")


def titled(scenario: str, tunings: Iterable[str], settings: Iterable[tuple[str, str]]) -> str:
    """Name a scenario and what is set in it, on one line."""
    chosen = [*tunings, *(f"{name}={value}" for name, value in settings)]
    return printable(f"{scenario} with {', '.join(chosen)}" if chosen else scenario)


def _escaped(character: str) -> str:
    if character == "\n":
        return "\\n"
    data = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[at : at + 2].hex()}" for at in range(0, len(data), 2))
