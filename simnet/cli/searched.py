"""Options of the commands that search, and how they show what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from simnet.cli.options import case_options, jobs_option, json_option
from simnet.cli.output import answer, message, out_option, write_out

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

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
            json_option(),
            out_option(drawn),
            jobs_option,
            case_options,
        ):
            command = option(command)
        return command

    return add


def show(found: _Found, text: str, *, out: Path | None, as_json: bool) -> None:
    """Print what was found, with remarks; write it where that was asked for."""
    for remark in found.remarks:
        message(remark)
    write_out(out, found.to_json, found.plot)
    answer(found.to_json() if as_json else text, nl=as_json)
