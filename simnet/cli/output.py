"""Tables on stdout and messages on stderr."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from simnet.errors import InputError
from simnet.files import check_place, write_figure, write_text
from simnet.printable import lines, one_line, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from matplotlib.figure import Figure

__all__ = ["REPORT", "answer", "message", "out_option", "out_path", "table", "write_out"]

_NARROWEST: Final = 80
_DOCUMENT: Final = ".json"
REPORT: Final = ".html"
"""How a file of a report ends."""
_DRAWN: Final = (".png", ".svg", ".pdf")
_F = TypeVar("_F", bound="Callable[..., Any]")


def message(text: str) -> None:
    """Say something to the person, on stderr."""
    click.echo(one_line(f"simnet: {text}"), err=True)


def answer(text: str, *, nl: bool = True) -> None:
    """Print a result, safe for any terminal; everything that goes to stdout goes this way."""
    click.echo(lines(text), nl=nl)


def out_path(file: str, suffixes: Sequence[str]) -> Path:
    """Return the path after ``--out``, before any time is spent on simulating.

    Raises:
        InputError: another suffix, or a place where no file can be written.
    """
    path = Path(file)
    if path.suffix not in suffixes:
        one_of = "one of " if len(suffixes) > 1 else ""
        expected = f"expected a name that ends with {one_of}{', '.join(suffixes)}"
        raise InputError(expected, file="--out", key=file)
    if not path.parent.is_dir():
        raise InputError("expected a folder that exists", file="--out", key=str(path.parent))
    check_place(path, key="--out")
    return path


def out_option(drawn: str = "", *, report: bool = False) -> Callable[[_F], _F]:
    """Add ``--out`` to a command with one result; it gets a path to which can be written, or None.

    Args:
        drawn: what a figure of the result shows; empty if there is none.
        report: the command itself writes a report, too.
    """
    suffixes = (_DOCUMENT, *(_DRAWN if drawn else ()), *((REPORT,) if report else ()))
    figure = f", or draw {drawn} ({', '.join(_DRAWN)})" if drawn else ""

    def path(_context: click.Context, _option: click.Parameter, file: str | None) -> Path | None:
        return None if file is None else out_path(file, suffixes)

    page = f", or a report ({REPORT})" if report else ""
    text = f"Write what --json prints ({_DOCUMENT}){figure}{page}."
    return click.option("--out", metavar="FILE", callback=path, help=text)


def write_out(
    path: Path | None, document: Callable[[], str], plot: Callable[[], Figure] | None = None
) -> None:
    """Write a result where ``--out`` said, if it did."""
    if path is None:
        return
    if plot is None or path.suffix == _DOCUMENT:
        write_text(path, f"{document().rstrip()}\n")
    else:
        write_figure(path, plot())


def table(title: str, heading: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table: drawn on a terminal, plain columns without a limit of width elsewhere."""
    title = printable(title)
    cells = [tuple(map(printable, row)) for row in rows]
    if sys.stdout.isatty():
        _draw(title, heading, cells)
        return
    widths = [max(len(row[column]) for row in (heading, *cells)) for column in range(len(heading))]
    aligned = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (heading, *cells)
    ]
    answer("\n".join([f"# {title}", *aligned, ""]))


def _draw(title: str, heading: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=Text(title), box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for name in heading:
        drawn.add_column(name, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    console = Console()
    console.width = max(console.width, _NARROWEST)
    console.print(drawn)
