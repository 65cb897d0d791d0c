"""Text of strangers made safe to print: names of files, values, descriptions, whatever was typed.

A terminal obeys some characters (ESC begins a command to it, BEL rings, others turn the direction
of writing), a line end ends a comment within commands to paste, and bytes of a name that are no
UTF-8 cannot be printed at all. They are shown as JSON writes them, so that JSON in which
they are replaced stays the same JSON.
"""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Final

_LONGEST: Final = 2000
# names that a sentence has
_MOST: Final = 4
# of Markdown and HTML: what would begin emphasis, code, a link, a cell, a tag or a character's name
_MARKUP: Final = {**{ord(c): f"\\{c}" for c in "\\`*[]|"}, ord("<"): "&lt;", ord("&"): "&amp;"}


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


def typed(*words: str | PurePath) -> str:
    """Return words as a shell takes them, whatever they hold: a command to paste, or a part of one.

    Characters that are not for reading are written as `$'...'` takes them (bash, zsh, POSIX of
    2024); a path does not begin with a dash, which would make it an option.
    """
    return " ".join(_quoted(_no_option(word)) for word in words)


def _no_option(word: str | PurePath) -> str:
    text = str(word)
    return f"./{text}" if isinstance(word, PurePath) and text.startswith("-") else text


def _quoted(word: str) -> str:
    if word.isprintable():
        return shlex.quote(word)
    found = []
    for character in word:
        if character in "\\'":
            found.append(f"\\{character}")
        elif character.isprintable():
            found.append(character)
        else:
            found += [f"\\{byte:03o}" for byte in _bytes(character)]
    return f"$'{''.join(found)}'"


def _bytes(character: str) -> bytes:
    """Return what a character is in a name, also one that stands for a byte that is no UTF-8."""
    escaped = "\udc80" <= character <= "\udcff"
    return character.encode("utf-8", "surrogateescape" if escaped else "surrogatepass")


def markdown(text: str) -> str:
    """Return a stranger's text for a line of Markdown, where it is nothing but text."""
    return printable(text).translate(_MARKUP)


def capital(text: str) -> str:
    """Return a text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


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
