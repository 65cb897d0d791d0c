"""Long work seen from outside: how much is built, and how far a simulation has come.

Who watches only looks: nothing that is built or simulated depends on it.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

_EVERY: Final = 256


class Watcher(Protocol):
    """Called several times a second; an exception ends the work."""

    def built(self, what: str, done: int, total: int) -> None:
        """So many of all parts of a kind are there; the first time none is."""

    def simulated(self, now_ps: int) -> None:
        """A simulation has come to this time."""


_WATCHERS: ContextVar[tuple[Watcher, ...]] = ContextVar("watchers", default=())


@contextmanager
def with_watcher(watcher: Watcher) -> Iterator[None]:
    """Report what is built and simulated in the block to a watcher and those of outer blocks."""
    before = _WATCHERS.set((*_WATCHERS.get(), watcher))
    try:
        yield
    finally:
        _WATCHERS.reset(before)


def counted(what: str, total: int) -> Iterator[int]:
    """Count the parts of a kind from 0 to `total`, and report it to the watchers."""
    watchers = _WATCHERS.get()
    for number in range(total):
        if number % _EVERY == 0:
            for watcher in watchers:
                watcher.built(what, number, total)
        yield number


def report_time(now_ps: int) -> None:
    """Report to the watchers how far the simulation is."""
    for watcher in _WATCHERS.get():
        watcher.simulated(now_ps)
