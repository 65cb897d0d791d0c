"""What stands before the page: what a request names, how many there are, what is said of others.

A page of somebody else, whose name is made to stand for this machine, names its own host (DNS
rebinding), and what it sends says where it is from. The page's address has a token that nobody can
guess, so other users of the machine cannot find it.
"""

from __future__ import annotations

import hmac
import os
import sys
import traceback
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Final

from simnet.printable import lines, one_line

if TYPE_CHECKING:
    from email.message import Message

MOST_REQUESTS: Final = 16
"""Requests that may be answered at once: each has the CPUs for its answer."""
MOST_BYTES: Final = 65536
"""Of a question."""
MOST_PASTED_BYTES: Final = 8 << 20
"""Of what is pasted to be diagnosed."""


def places() -> BoundedSemaphore:
    """One for each request that may be answered at once."""
    return BoundedSemaphore(MOST_REQUESTS)


def refused(path: str, headers: Message, own: str, host: str) -> bool:
    """Whether a request is none of the page's own.

    Args:
        path: what it asks for.
        headers: what it says of itself.
        own: with what that begins: the token.
        host: the address of the page, with the port.
    """
    named, origin = headers.get("Host", ""), headers.get("Origin")
    away = named != host or origin not in (None, f"http://{host}")
    begins = path[: len(own)].encode("utf-8", "replace")
    return away or not hmac.compare_digest(begins, own.encode())


def say(text: str) -> None:
    """One line for the person at the terminal."""
    sys.stderr.write(f"{one_line(f'simnet: page: {text}')}\n")


def failed(error: BaseException) -> str:
    """Say of what goes wrong one line, and the traceback only where it is asked for."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    if os.environ.get("SIMNET_DEBUG") == "1":
        where = "".join(traceback.format_exception(error)).rstrip()
        sys.stderr.write(f"{lines(where)}\n")
    else:
        text += " (SIMNET_DEBUG=1 shows where)"
    say(text)
    return text
