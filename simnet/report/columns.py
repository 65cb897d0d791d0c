"""Plain text in columns: whole in a pipe and in a file, as wide as the terminal on one."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Final

from simnet.printable import printable
from simnet.terminal import width

_GAP: Final = "  "
# of a column of text on a terminal: what is longer goes on in the next line
_LEAST: Final = 14


def columns(
    heading: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1, text_last: bool = False
) -> str:
    """Align cells in columns, two spaces apart.

    A table that a terminal has no room for gets headings of several lines, then text that goes on
    in the next line; what still has no room stands in a second table below it, beside the first
    column.

    Args:
        heading: names of the columns.
        rows: cells, a row each.
        left: the first columns to the left: these are of text, the others of numbers.
        text_last: the last column is of text, too.
    """
    table = [tuple(map(printable, row)) for row in (heading, *rows)]
    texts = {*range(left), *([len(heading) - 1] if text_last else [])}
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    most = width()
    if most is not None and sum(widths) + len(_GAP) * (len(widths) - 1) > most:
        return "\n".join(
            _drawn(table, places, texts, most) for places in _parts(table, texts, most)
        )
    return aligned(table, texts)


def aligned(table: Sequence[Sequence[str]], texts: Container[int] = (0,)) -> str:
    """Return a table, its heading first, as wide as its cells; `texts` stand to the left."""
    widths = {place: max(map(len, cells)) for place, cells in enumerate(zip(*table, strict=True))}
    return "".join(f"{_line(row, widths, texts)}\n" for row in table)


def _parts(table: Sequence[Sequence[str]], texts: set[int], most: int) -> Iterator[Sequence[int]]:
    """Yield the columns that have room beside each other, the first one in each part."""
    first, *others = range(len(table[0]))
    part = [first]
    used = _narrowest(table, first, texts)
    for place in others:
        needed = len(_GAP) + _narrowest(table, place, texts)
        if used + needed > most and len(part) > 1:
            yield part
            part, used = [first], _narrowest(table, first, texts)
        part.append(place)
        used += needed
    yield part


def _narrowest(table: Sequence[Sequence[str]], place: int, texts: set[int]) -> int:
    """Return how narrow a column may be: a number is whole, and so is a word of a heading."""
    heading, *cells = (row[place] for row in table)
    words = max(map(len, heading.split()), default=0)
    longest = max(map(len, cells), default=0)
    return max(words, min(longest, _LEAST) if place in texts else longest)


def _longest_word(table: Sequence[Sequence[str]], place: int) -> int:
    return max((len(word) for row in table for word in row[place].split()), default=0)


def _drawn(
    table: Sequence[Sequence[str]], places: Sequence[int], texts: set[int], most: int
) -> str:
    """Return some columns of a table with cells that go on in the next line."""
    widths = _fitted(table, places, texts, most - len(_GAP) * (len(places) - 1))
    lines: list[str] = []
    for number, row in enumerate(table):
        cells = [
            wrap(row[place], size, break_on_hyphens=False) or [""] for place, size in widths.items()
        ]
        tall = max(map(len, cells))
        # a heading stands on its numbers, a row hangs from its first line
        rows = [
            [""] * (tall - len(cell)) + cell if number == 0 else cell + [""] * (tall - len(cell))
            for cell in cells
        ]
        lines += [_line(one, widths, texts) for one in zip(*rows, strict=True)]
    return "".join(f"{line}\n" for line in lines)


def _fitted(
    table: Sequence[Sequence[str]], places: Sequence[int], texts: set[int], most: int
) -> dict[int, int]:
    """Return the width of each column: numbers as narrow as can be, the longest text gives way.

    A word is broken only where there is no room otherwise.
    """
    widths = {
        place: max(len(row[place]) for row in table)
        if place in texts
        else _narrowest(table, place, texts)
        for place in places
    }
    least = {place: _narrowest(table, place, texts) for place in texts.intersection(places)}
    whole = {place: max(size, _longest_word(table, place)) for place, size in least.items()}
    for floor in (whole, least):
        while sum(widths.values()) > most and any(widths[place] > floor[place] for place in floor):
            longest = max(floor, key=lambda place: widths[place] - floor[place])
            widths[longest] -= 1
    return widths


def _line(cells: Iterable[str], widths: Mapping[int, int], texts: Container[int]) -> str:
    aligned = (
        cell.ljust(size) if place in texts else cell.rjust(size)
        for cell, (place, size) in zip(cells, widths.items(), strict=True)
    )
    return _GAP.join(aligned).rstrip()
