"""What a worker process does when the process that gave it work is gone: finish, and end."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

__all__ = ["working_for"]

_LOOK_S: Final = 0.5
_BUSY: Final = threading.Lock()


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
    threading.Thread(target=_end_with, args=(caller,), daemon=True).start()


def _end_with(caller: int) -> None:
    while os.getppid() == caller:
        time.sleep(_LOOK_S)
    with _BUSY:
        os._exit(0)
