"""Python's garbage collector, while a system is simulated.

Frames come and go by the million and leave nothing to collect, and what is there already need not
be looked at again and again: it is frozen. But what is unfrozen counts as old, and the collector
comes to the old only when enough of the young have grown old by themselves. Systems of earlier
runs, which have cycles, would stay for ever. So all is collected when there is a quarter more than
after the last time: the collector's own rule. The measure is the number of allocated blocks of
memory, which Python knows by pool: to count the objects themselves takes 20 ms in a large process.

Source: Modules/gcmodule.c of CPython 3.11: `gc_freeze_impl`, `gc_unfreeze_impl`,
`long_lived_pending`; Objects/obmalloc.c: `_Py_GetAllocatedBlocks`.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

# pools of frames and packets are allocated in thousands
_ALLOCATIONS_PER_COLLECTION: Final = 1_000_000


class Collector:
    """The collector of this process."""

    def __init__(self) -> None:
        # all is collected when there is so many times as much as after the last time
        self.growth = 1.25
        self.kept = 0  # allocated blocks after everything was last collected; 0 before
        # who is spared now, and what was before the first of them: threads end in any order
        self._lock = Lock()
        self._inside = 0
        self._first = gc.get_threshold()

    @contextmanager
    def spared(self, *, grown: bool) -> Iterator[None]:
        """Freeze what is there, and collect seldom.

        Args:
            grown: another system is about to be made; only then can there be much more than
                before. Those that came before can be collected without a look at it. Nothing is
                collected meanwhile: what is made of a system stays.
        """
        before = gc.get_threshold()
        with self._lock:
            self._first = self._first if self._inside else before
            self._inside += 1
        if before[0]:
            most = 0 if grown else max(before[0], _ALLOCATIONS_PER_COLLECTION)
            gc.set_threshold(most, *before[1:])
        freezes = gc.get_freeze_count() == 0
        if freezes:
            gc.freeze()
            if grown:
                self._look()
        try:
            yield
        finally:
            if freezes:
                # what has come meanwhile is old without a look at it
                gc.freeze()
                gc.unfreeze()
            with self._lock:
                self._inside -= 1
                gc.set_threshold(*(before if self._inside else self._first))

    def _look(self) -> None:
        """Collect everything if there is much more than after the last time."""
        there = _blocks()
        if self.kept == 0:
            self.kept = there
        elif there > self.growth * self.kept:
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self.kept = _blocks()


def _blocks() -> int:
    """How much there is, in blocks of Python's allocator; in objects where that is off."""
    return sys.getallocatedblocks() or gc.get_freeze_count()


COLLECTOR: Final = Collector()
"""That of this process."""
