"""A bound on the processor time of an import: what strangers send may be made to take for ever."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Final

from simnet.errors import InputError

MOST_CPU_S: Final = 300
"""Processor time in seconds that an import may take; a sosreport of some GB takes a minute."""
# what a handler raises is lost in some places of Python, so it is raised again
_AGAIN_S: Final = 1.0


@contextlib.contextmanager
def bounded(label: str, most_s: float = MOST_CPU_S) -> Iterator[None]:
    """End what takes too much processor time (setitimer(2), ITIMER_VIRTUAL).

    Only the main thread of a process can be interrupted: in others there is no bound.

    Args:
        label: what the user called the source, for the message.
        most_s: the bound.

    Raises:
        InputError: it took more.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(_number: int, _frame: object) -> None:
        text = f"reading it takes more than {most_s:g} s of processor time: not what a host's do"
        raise InputError(text, file=label)

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, most_s, _AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
