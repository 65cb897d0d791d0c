"""The page itself: Panel, on this machine alone, behind a token.

The server listens on 127.0.0.1, and answers only what names this address. The page's address has a
token that nobody can guess, so other users of the machine, and pages of other hosts in the same
browser, cannot find it.
"""

from __future__ import annotations

import secrets
from asyncio import new_event_loop, set_event_loop
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final

import panel as pn

from simnet.page.guard import bounded, guard, pass_over_closed, say_in_lines
from simnet.page.view import View
from simnet.scenario.core.library import find_scenario, read_scenario
from simnet.study.screen.controls import controls
from simnet.study.work.cases import Case

__all__ = ["serve", "served"]

_HOST: Final = "127.0.0.1"
_HEIGHT: Final = 900
_START_S: Final = 30


def serve(base: Case, *, port: int, opened: Callable[[str], None]) -> None:
    """Serve the page until interrupted.

    Args:
        base: the scenario as it is.
        port: to listen on; 0 for any that is free.
        opened: called with the address once the page is there.
    """
    say_in_lines("asyncio", "tornado")
    found = controls(base)
    names = tuple(read_scenario(find_scenario(base.scenario))[0].tunings)
    _serve(lambda: View(base, found, names).layout(_HEIGHT), port, opened)


def served(shown: Callable[[], Any]) -> str:
    """Serve something beside what this process does, until it ends; return the address."""
    addresses: SimpleQueue[str] = SimpleQueue()

    def work() -> None:
        set_event_loop(new_event_loop())  # the thread's own
        _serve(shown, 0, addresses.put)

    Thread(target=work, daemon=True).start()
    return addresses.get(timeout=_START_S)


def _serve(shown: Callable[[], Any], port: int, opened: Callable[[str], None]) -> None:
    say_in_lines("bokeh", "panel")
    pass_over_closed("asyncio", "tornado.application")
    token = secrets.token_urlsafe(24)
    pn.config.notifications = False
    server = pn.serve(
        {token: bounded(shown, lambda: server)},
        address=_HOST,
        port=port,
        start=False,
        show=False,
        threaded=False,
        verbose=False,
        title="simnet",
        use_index=False,
        redirect_root=False,
        websocket_origin=None if port == 0 else f"{_HOST}:{port}",
    )
    guard(server, _HOST)
    opened(f"http://{_HOST}:{server.port}/{token}")
    server.start()
    server.io_loop.start()
