"""Plain text in columns: the same on a terminal, in a pipe and in a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from simnet.printable import printable


def columns(heading: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """Align cells in columns, two spaces apart; the first `left` columns to the left."""
    table = [list(map(printable, row)) for row in (heading, *rows)]
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
    return "\n".join(lines) + "\n"
