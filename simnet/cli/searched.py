"""Options of the commands that search, and how they show what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import click

from simnet.cli.options import case_options
from simnet.cli.output import answer, message, out_path
from simnet.files import write_figure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

__all__ = ["drawing_of", "search_options", "show"]

_SUFFIXES: Final = (".png", ".svg", ".pdf")
_F = TypeVar("_F", bound="Callable[..., Any]")


class _Found(Protocol):
    @property
    def remarks(self) -> Sequence[str]: ...

    def plot(self) -> Figure: ...

    def to_json(self) -> str: ...


def search_options(drawn: str) -> Callable[[_F], _F]:
    """Add what chooses the runs, and where the answer goes; `drawn` is what a figure shows."""

    def add(command: _F) -> _F:
        for option in (
            click.option("--json", "as_json", is_flag=True, help="Print JSON."),
            click.option("--out", metavar="FILE", help=f"Draw {drawn} (.png, .svg, .pdf)."),
            click.option(
                "--jobs", type=click.IntRange(1, 1024), help="Processes; one a CPU by default."
            ),
            case_options,
        ):
            command = option(command)
        return command

    return add


def drawing_of(out: str | None) -> Path | None:
    """The file of the figure; raises InputError when none can be written there."""
    return None if out is None else out_path(out, _SUFFIXES)


def show(found: _Found, text: str, *, drawing: Path | None, as_json: bool) -> None:
    """Print what was found, with remarks; draw it where that was asked for."""
    for remark in found.remarks:
        message(remark)
    if drawing is not None:
        write_figure(drawing, found.plot())
    answer(found.to_json() if as_json else text, nl=as_json)
