"""Text as wide as the terminal that shows it; whole where there is none, as in a pipe or a file."""

import shutil
import sys
import textwrap
from typing import Final, TextIO

# a narrower window is as if it were this wide: what is folded more cannot be read
_NARROWEST: Final = 60
_INDENT: Final = "  "


def width(file: TextIO | None = None) -> int | None:
    """Return the columns of the terminal at a file (stdout when None); None if it is none."""
    shown = sys.stdout if file is None else file
    return max(shutil.get_terminal_size().columns, _NARROWEST) if shown.isatty() else None


def folded(text: str, file: TextIO | None = None) -> str:
    """Return sentences with line ends between words where a terminal has no room.

    What goes on is indented. Commands are not for this: what is pasted has to stay one line.
    """
    most = width(file)
    if most is None:
        return text
    return "\n".join(_folded(line, most) for line in text.split("\n"))


def answer_last(text: str, typed: str) -> str:
    """Return an answer, folded, and below it what to type.

    The first line, which has the verdict, is repeated at the end where a terminal is not high
    enough for all.
    """
    shown = f"{folded(text)}\n{typed}"
    if not sys.stdout.isatty() or shown.count("\n") < shutil.get_terminal_size().lines:
        return shown
    first, _, _ = text.partition("\n")
    return f"{shown}\n{folded(first)}\n"


def _folded(line: str, most: int) -> str:
    if len(line) <= most:
        return line
    start = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(
        line.strip(),
        most,
        initial_indent=start,
        subsequent_indent=start + _INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
