"""Many commands of one shape as a loop of the shell: ``for each in 64:0 65:1 ...``."""

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

_LEAST: Final = 9
_WIDTH: Final = 96
_MOST_VARIABLE: Final = 2
_PIECES: Final = re.compile(r"([ /=]+)")
# nothing that the shell reads otherwise inside of a loop
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./ >,+@%-]+")
# its name says what it is, and other tools have a way of their own to set it
_BY_ITSELF: Final = "sysctl "
_WORD: Final = re.compile(r"[A-Za-z0-9_.,+@%-]+")


def looped(lines: Iterable[str], least: int = _LEAST) -> tuple[str, ...]:
    """Return lines of the shell that do the same, many of one shape in a row as a loop.

    Args:
        lines: commands, one a line, in their order.
        least: how many lines are made one.
    """
    found: list[str] = []
    for shape, group in groupby(lines, _shape):
        for alike in _runs(list(group)) if shape else [list(group)]:
            loop = _loop(alike) if shape and len(alike) >= least else None
            found += alike if loop is None else loop
    return tuple(found)


def _runs(lines: Sequence[str]) -> Iterator[list[str]]:
    """Split lines of one shape where more words differ than a loop can have."""
    run: list[str] = []
    differ: set[int] = set()
    for line in lines:
        differ |= set(_differ([*run[:1], line]))
        if len(differ) > _MOST_VARIABLE:
            yield run
            run, differ = [], set()
        run.append(line)
    yield run


def _differ(lines: Sequence[str]) -> list[int]:
    """Which pieces of lines differ."""
    columns = zip(*map(_PIECES.split, lines), strict=True)
    return [at for at, column in enumerate(columns) if len(set(column)) > 1]


def _shape(line: str) -> tuple[str, ...]:
    """What lines of one loop have in common: program, and where words begin; empty for no loop."""
    if line.startswith(_BY_ITSELF) or not _PLAIN.fullmatch(line):
        return ()
    pieces = _PIECES.split(line)
    return (pieces[0], *pieces[1::2])


def _loop(lines: Sequence[str]) -> list[str] | None:
    """Return a loop over what differs, if that is a word or two of each line."""
    rows = [_PIECES.split(line) for line in lines]
    differ = _differ(lines)
    words = [[row[at] for at in differ] for row in rows]
    if not 0 < len(differ) <= _MOST_VARIABLE or not all(
        _WORD.fullmatch(w) for r in words for w in r
    ):
        return None
    names = ("$each",) if len(differ) == 1 else ("${each%:*}", "${each#*:}")
    body = list(rows[0])
    for at, name in zip(differ, names, strict=True):
        body[at] = name
    return list(_typed([":".join(row) for row in words], "".join(body)))


def _typed(items: Sequence[str], body: str) -> Iterator[str]:
    """Yield the lines of a loop, no wider than a screen but for a long word."""
    whole = f"for each in {' '.join(items)}; do {body}; done"
    if len(whole) <= _WIDTH:
        yield whole
        return
    yield "for each in \\"
    fold = textwrap.wrap(
        " ".join(items), _WIDTH - 4, break_long_words=False, break_on_hyphens=False
    )
    for number, line in enumerate(fold, start=1):
        yield f"  {line}" if number == len(fold) else f"  {line} \\"
    yield f"do {body}; done"
