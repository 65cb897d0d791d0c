"""What stands before the page: what a request names, how many look, what is said of errors."""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import Callable
from typing import Any, Final

import panel as pn
from tornado.routing import HostMatches, Rule, RuleRouter
from tornado.websocket import WebSocketClosedError

from simnet.printable import lines, one_line

__all__ = ["MOST_SESSIONS", "bounded", "guard", "pass_over_closed", "say_in_lines"]

MOST_SESSIONS: Final = 16
"""Pages that may be open at once: each has the CPUs for its answers."""
_TOO_MANY: Final = f"<p>{MOST_SESSIONS} pages are open, the most there may be: close one first.</p>"


def guard(server: Any, host: str) -> None:
    """Let a server answer only what names it by its address, and say nothing else to others.

    A page of somebody else, whose name is made to stand for this machine, names its own host (DNS
    rebinding).
    """
    server._http.request_callback = RuleRouter(  # noqa: SLF001 (Bokeh has no way of its own)
        [Rule(HostMatches(host.replace(".", r"\.")), server._tornado)]  # noqa: SLF001
    )


def bounded(shown: Callable[[], Any], server: Callable[[], Any]) -> Callable[[], Any]:
    """Show what is shown, unless as many look at it as may."""

    def show() -> Any:
        full = len(server().get_sessions()) >= MOST_SESSIONS
        return pn.pane.HTML(_TOO_MANY) if full else shown()

    return show


def say_in_lines(*loggers: str) -> None:
    """Say of what goes wrong one line on stderr, and the traceback only where it is asked for."""
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.setFormatter(_OneLine())
    for name in loggers:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False


def pass_over_closed(*loggers: str) -> None:
    """Say nothing of a browser that leaves while an answer is on its way to it: it is no error."""
    for name in loggers:
        logging.getLogger(name).addFilter(_not_closed)


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        said = f"simnet: page: {' '.join(record.getMessage().split())}"
        if not record.exc_info:
            return one_line(said)
        if os.environ.get("SIMNET_DEBUG") != "1":
            return one_line(f"{said} (SIMNET_DEBUG=1 shows where)")
        where = "".join(traceback.format_exception(*record.exc_info)).rstrip()
        return f"{one_line(said)}\n{lines(where)}"


def _not_closed(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, WebSocketClosedError)
