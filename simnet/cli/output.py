"""Tables on stdout and messages on stderr."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from simnet.errors import InputError
from simnet.files import check_place, write_figure, write_text
from simnet.printable import lines, one_line, printable
from simnet.terminal import folded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from matplotlib.figure import Figure

    from simnet.report.card.card import Card

_DOCUMENT: Final = ".json"
_MARKDOWN: Final = ".md"
REPORT: Final = ".html"
"""How a file of a report ends."""
_DRAWN: Final = (".png", ".svg", ".pdf")
_F = TypeVar("_F", bound="Callable[..., Any]")

# where a sentence or a cell has nothing else: a verdict; a warning; how sure a number is
_STANDS_OUT: Final = re.compile(
    r"(?<=: |  )(?P<verdict>yes|no difference|no|cannot tell)(?=:|  |$)"
    r"|^(?P<warning>warning)(?=: )"
    r"|(?P<range>\([-+.\d]+ to (?:more than x )?[-+.\d]+\))",
    re.MULTILINE,
)
_VERDICT_COLOURS: Final = {"yes": "green", "no": "red"}
_ELSE: Final = "yellow"


def message(text: str) -> None:
    """Say something to the person, on stderr."""
    click.echo(folded(one_line(f"simnet: {text}"), sys.stderr), err=True)


def answer(text: str, *, nl: bool = True) -> None:
    """Print a result, safe for any terminal; everything that goes to stdout goes this way."""
    shown = lines(text)
    click.echo(_STANDS_OUT.sub(_coloured, shown) if _colours() else shown, nl=nl)


def print_result(text: str, document: Callable[[], str], *, as_json: bool) -> None:
    """Print a result as JSON, or its text as wide as the terminal; commands are not for this."""
    answer(document() if as_json else folded(text), nl=as_json)


def _colours() -> bool:
    """Return whether stdout shows colours, and nobody asked for none (https://no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain


def _coloured(found: re.Match[str]) -> str:
    text = found.group()
    if found.lastgroup == "range":
        return click.style(text, dim=True)
    return click.style(text, fg=_VERDICT_COLOURS.get(text, _ELSE), bold=True)


def out_path(file: str, suffixes: Sequence[str], *, key: str = "--out") -> Path:
    """Return the path after ``--out`` or `key`, before any time is spent on simulating.

    Raises:
        InputError: another suffix, or a place where no file can be written.
    """
    path = Path(file)
    if path.suffix not in suffixes:
        one_of = "one of " if len(suffixes) > 1 else ""
        expected = f"expected a name that ends with {one_of}{', '.join(suffixes)}"
        raise InputError(expected, file=key, key=file)
    if not path.parent.is_dir():
        raise InputError("expected a folder that exists", file=key, key=str(path.parent))
    check_place(path, key=key)
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


def card_option(command: _F) -> _F:
    """Add ``--card`` to a command; it gets a path to which can be written, or None."""

    def path(_context: click.Context, _option: click.Parameter, file: str | None) -> Path | None:
        return None if file is None else out_path(file, (_MARKDOWN, *_DRAWN), key="--card")

    text = f"Write the answer on a card to show to others ({_MARKDOWN}, {', '.join(_DRAWN)})."
    return click.option("--card", metavar="FILE", callback=path, help=text)(command)


def write_card(path: Path, card: Card) -> None:
    """Write a card where ``--card`` said."""
    if path.suffix == _MARKDOWN:
        from simnet.report.card.card import as_markdown

        write_text(path, as_markdown(card))
    else:
        from simnet.report.card.picture import picture

        write_figure(path, picture(card))


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
    """Print a table of texts under a title."""
    from simnet.report.columns import columns

    answer(f"# {printable(title)}\n{columns(heading, rows, left=len(heading))}")
