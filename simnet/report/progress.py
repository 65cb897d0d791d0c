"""A bar on stderr while many simulations run; nothing where stderr is not a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from simnet.study.cases import Progress as Callback


@contextmanager
def progress(description: str, console: Console | None = None) -> Iterator[Callback]:
    """Give a callback `(done, total)` that moves the bar; the bar goes when the block ends."""
    chosen = console or Console(stderr=True)
    if not chosen.is_terminal:
        yield lambda _done, _total: None
        return
    shown = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*shown, TimeRemainingColumn(), console=chosen, transient=True) as bar:
        task = bar.add_task(description, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
