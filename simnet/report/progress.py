"""What long work says on stderr: a bar on a terminal; elsewhere a line, and only of minutes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from simnet.kernel.watch import with_watcher
from simnet.printable import printable
from simnet.study.run.duration_text import duration_text
from simnet.terminal import folded
from simnet.time_units import PS_PER_S

if TYPE_CHECKING:
    from rich.console import Console

    from simnet.scenario.core.effective import Effective
    from simnet.study.work.cases import Progress as Callback

# of one simulation: what takes less shows nothing
SHORT_S: Final = 2.0
# without a terminal: the wait after which a line is printed; and what an estimate needs
LONG_S: Final = 60.0
SURE_S: Final = 10.0
_REFRESH_S: Final = 0.1


@contextmanager
def progress(description: str, console: Console | None = None) -> Iterator[Callback]:
    """Give a callback that shows how many simulations are done, phase by phase, until the end."""
    shown = console or terminal()
    if shown is None or not shown.is_terminal:
        line = _Line(shown, counts=True)
        yield lambda done, total, phase="", /: line(_named(description, phase), done, total)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Rest

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rest())
    with Progress(*columns, console=shown, transient=True) as bar:
        task = bar.add_task(description, total=None)
        last = before = 0

        def show(done: int, total: int, phase: str = "", /) -> None:
            nonlocal last, before
            named = _named(description, phase)
            if named != bar.tasks[0].description:
                # a bar is of one phase, also where the simulations of all are counted together
                before = last if done >= last else 0
                bar.reset(task, description=named)
            last = done
            bar.update(task, completed=done - before, total=total - before)

        yield show


def _named(description: str, phase: str) -> str:
    return f"{description} {phase}" if phase else description


@contextmanager
def watching(effective: Effective, console: Console | None = None) -> Iterator[None]:
    """Show how far the building and simulating of a configuration is, when that takes long."""
    shown = console or terminal()
    if shown is None or not shown.is_terminal:
        with with_watcher(_Work(effective, _Line(shown))):
            yield
        return
    bar = _Bar(shown)
    try:
        with with_watcher(_Work(effective, bar)):
            yield
    finally:
        bar.stop()


def said(console: Console | None) -> Callable[[str], None] | None:
    """Give what prints a line above the bar on a terminal; None if there is none."""
    if console is None:
        return None
    return lambda text: console.out(folded(printable(text), sys.stderr), highlight=False)


def terminal() -> Console | None:
    """The terminal at stderr, if there is one."""
    if not sys.stderr.isatty():
        return None
    from rich.console import Console  # takes longer to load than a short run

    return Console(stderr=True)


class _Work:
    """Watches one simulation after the other of a configuration."""

    def __init__(self, effective: Effective, show: Callable[[str, int, int], None]) -> None:
        timing = effective.run
        early = timing.precision_permille or effective.lpars is not None
        self._most_ps = timing.duration_ps
        if not timing.precision_permille:
            self._most_ps += timing.warm_up_ps
        most = "at most " if early else ""
        self._text = (
            f"simulating {most}{self._most_ps / PS_PER_S:g} s of {printable(effective.scenario)}"
        )
        self._show = show

    def built(self, what: str, done: int, total: int) -> None:
        """Show how much is built."""
        self._show(f"building {total:,} {what}", done, total)

    def simulated(self, now_ps: int) -> None:
        """Show how much is simulated."""
        self._show(self._text, min(now_ps, self._most_ps), self._most_ps)


class _Line:
    """Says of each work that it takes minutes, as soon as it looks like that.

    Says so again when the time is over and minutes are still to come: later runs may take longer
    than the first ones. Where what is to do grows with what is done, as in a search, each batch may
    be short: then it says how much is done, each time in twice the time. `counts`: whether the
    numbers mean something to a reader.
    """

    def __init__(self, console: Console | None, *, counts: bool = False) -> None:
        self._counts = counts
        self._began_s = time.monotonic()
        self._said_s = LONG_S
        self._total = 0
        self._grows = False
        self._file = sys.stderr if console is None else console.file
        self._due_s: dict[str, float] = {}
        self._text = ""
        self._first = 0
        self._start_s = 0.0

    def __call__(self, text: str, done: int, total: int) -> None:
        """Look how fast it goes, from the first that is done: what came before won't come again."""
        if done == 0:
            return
        now_s = time.monotonic()
        self._grows |= 0 < self._total < total
        self._total = total
        if text != self._text or done < self._first:
            self._text, self._first, self._start_s = text, done, now_s
        passed_s = now_s - self._start_s
        due_s = self._due_s.get(text, now_s)
        if now_s < due_s or passed_s < SURE_S or done == self._first:
            return
        since_s = now_s - self._began_s
        rest_s = passed_s * (total - done) / (done - self._first)
        if rest_s < LONG_S:
            self._count(text, done, since_s)
        else:
            self._said_s = 2 * (since_s + rest_s)
            self._due_s[text] = now_s + rest_s
            self._first, self._start_s = done, now_s
            print(
                f"simnet: {text}: about {duration_text(rest_s)} to go", file=self._file, flush=True
            )

    def _count(self, text: str, done: int, since_s: float) -> None:
        """Say how much is done, where nobody knows how much there will be."""
        if self._counts and self._grows and since_s >= self._said_s:
            self._said_s = 2 * since_s
            so_far = f"{done:,} done in {duration_text(since_s)}"
            print(f"simnet: {text}: {so_far}", file=self._file, flush=True)


class _Bar:
    """A bar for each work, which goes when the next begins; none in a short time."""

    def __init__(self, console: Console) -> None:
        from rich.progress import Progress

        self._bars = Progress(console=console, transient=True, auto_refresh=False)
        self._text = ""
        self._due_s = time.monotonic() + SHORT_S

    def __call__(self, text: str, done: int, total: int) -> None:
        """Move the bar."""
        now_s = time.monotonic()
        if now_s < self._due_s:
            return
        self._due_s = now_s + _REFRESH_S
        self._bars.start()
        if text != self._text:
            for task in self._bars.task_ids:
                self._bars.remove_task(task)
            self._bars.add_task(text, total=total)
            self._text = text
        self._bars.update(self._bars.task_ids[0], completed=done, refresh=True)

    def stop(self) -> None:
        """Let it go."""
        self._bars.stop()
