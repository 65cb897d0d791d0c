"""The page itself, served on this machine alone, behind a token.

A browser gets one document, and asks with one kind of request: what is wanted, and the state of its
controls. The answer is a line of JSON for each thing that is known, as soon as it is known. A
browser that closes the connection wants no more, and what runs for it ends.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, Final

from simnet.errors import SimnetError
from simnet.page.answers import ROUNDS, WANTED
from simnet.page.guard import MOST_BYTES, failed, places, refused, say
from simnet.page.offer import Offer
from simnet.report.html.page import copying, digest, environment, style
from simnet.scenario.core.library import find_scenario, read_scenario
from simnet.study.whatif.machine import machine
from simnet.study.work.cases import Member

__all__ = ["serve", "served"]

_HOST: Final = "127.0.0.1"
_IDLE_S: Final = 30
_WAITS_S: Final = 0.5
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def serve(offer: Offer, *, port: int, opened: Callable[[str], None]) -> None:
    """Serve the page until interrupted.

    Args:
        offer: what can be changed.
        port: to listen on; 0 for any that is free.
        opened: called with the address once the page is there.
    """
    with _Server(offer, port) as server:
        opened(server.address)
        server.serve_forever()


def served(offer: Offer) -> str:
    """Serve the page beside what this process does, until it ends; return the address."""
    server = _Server(offer, 0)
    Thread(target=server.serve_forever, daemon=True).start()
    return server.address


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, offer: Offer, port: int) -> None:
        self.offer = offer
        self.path = f"/{secrets.token_urlsafe(24)}"
        self.places = places()
        self.turn = Lock()
        super().__init__((_HOST, port), _Handler)
        self.host = f"{_HOST}:{self.server_port}"

    @property
    def address(self) -> str:
        return f"http://{self.host}{self.path}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over a browser that left."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _IDLE_S
    server_version = "simnet"
    sys_version = ""

    def do_GET(self) -> None:
        if self._let(""):
            text, policy = _document(self.server.offer)
            self._begin(200, "text/html; charset=utf-8", {"Content-Security-Policy": policy})
            self.wfile.write(text.encode())

    def do_POST(self) -> None:
        if not self._let("/ask"):
            return
        if not self.server.places.acquire(blocking=False):
            self._refuse(503)
            return
        try:
            self._answer()
        except OSError:  # nobody waits for it
            return
        finally:
            self.server.places.release()

    def _answer(self) -> None:
        length = self.headers.get("Content-Length", "")
        given = self.rfile.read(min(int(length), MOST_BYTES)) if length.isdecimal() else b""
        try:
            told = json.loads(given)
            wanted = WANTED[told["want"]]
        except (ValueError, TypeError, LookupError, RecursionError):
            self._refuse(400)
            return
        self._begin(200, "application/x-ndjson; charset=utf-8", {})
        try:
            wanted(self.server.offer, told, self)
        except SimnetError as error:
            self.say({"error": str(error)})
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001 (said, and the page goes on)
            self.say({"error": failed(error)})

    def say(self, what: Mapping[str, Any], /) -> None:
        """See `Asker`."""
        self.wfile.write(f"{json.dumps(what)}\n".encode())

    @contextmanager
    def turn(self) -> Iterator[None]:
        """See `Asker`."""
        while not self.server.turn.acquire(timeout=_WAITS_S):
            self.say({"waits": True})
        try:
            yield
        finally:
            self.server.turn.release()

    def _let(self, rest: str) -> bool:
        """Whether the request is of the page itself, and for this; else it gets nothing."""
        own = f"{self.server.path}{rest}"
        if refused(self.path, self.headers, own, self.server.host):
            self._refuse(404)
            return False
        return True

    def _refuse(self, status: int) -> None:
        say(f"{status} for {self.requestline[:200]!r}")
        self._begin(status, "text/plain", {})

    def _begin(self, status: int, form: str, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": form, **_HEADERS, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        """Say nothing of what is answered."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the library's name)
        """Say what is no request at all."""
        say(format % args)


def _document(offer: Offer) -> tuple[str, str]:
    """The document of the page, and its policy: no request but to itself, no script but its own."""
    made = environment("simnet.page")
    script = copying() + made.get_template("page.js").render()
    base = offer.base
    form = read_scenario(find_scenario(base.scenario))[0]
    effective = Member(base).effective()
    text = made.get_template("page.html").render(
        name=effective.scenario,
        description=form.description,
        of=machine(effective),
        tunings=[(name, form.tunings[name].description) for name in offer.tunings],
        offered={"tunings": offer.tunings, "rounds": [one.name for one in ROUNDS]},
        style=style(),
        script=script,
    )
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest(script)}'; style-src 'unsafe-inline';"
        " connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    return text, policy
