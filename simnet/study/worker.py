"""Worker processes that end with the process that gave them work, and don't end before it.

An interrupt from the terminal reaches every process. The caller answers it, and ends the workers;
they ignore it, so that none of them complains. A caller that was killed ends nobody: its workers
notice, finish what they do, and end.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

__all__ = ["deaf_children", "working_for"]

_LOOK_S: Final = 0.5
_BUSY: Final = threading.Lock()


@contextmanager
def deaf_children() -> Iterator[None]:
    """Processes that are started inside the block get no interrupts; the own one gets them later.

    They inherit what is held back here, for good. To ignore an interrupt here would lose it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def working_for(caller: int) -> Iterator[None]:
    """Around a piece of work for the process with this id, which may be the own one.

    A worker that lost its caller (killed, not asked to end) would wait for work for ever. From the
    first piece of work on it looks after its caller; the piece in hand is finished first.
    """
    if caller != os.getpid():
        _look_after(caller)
    with _BUSY:
        yield


@cache
def _look_after(caller: int) -> None:
    # what was held back where this process was started is not, if another thread started it
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(caller,), daemon=True).start()


def _end_with(caller: int) -> None:
    while os.getppid() == caller:
        time.sleep(_LOOK_S)
    with _BUSY:
        os._exit(0)
