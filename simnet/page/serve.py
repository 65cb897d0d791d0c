"""The page itself, served on this machine alone, behind a token.

A browser gets a document of the desk or of a scenario, and asks with one kind of request: what is
wanted, and the state of its controls. The answer is a line of JSON for each thing that is known, as
soon as it is known. A browser that closes the connection wants no more, and what runs for it ends.
"""

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, Final

from simnet.errors import SimnetError
from simnet.page.answers import ROUNDS, WANTED, Asker
from simnet.page.desk import ASKED, Desk
from simnet.page.guard import MOST_BYTES, MOST_PASTED_BYTES, failed, places, refused, say
from simnet.page.offer import Offer
from simnet.report.html.page import copying, digest, environment, style
from simnet.scenario.core.library import read_scenario
from simnet.scenario.headings import scenario_headings
from simnet.scenario.scenarios import find_scenario
from simnet.study.run.machine import machine
from simnet.study.work.cases import Member

_HOST: Final = "127.0.0.1"
# places below the token
_DESK: Final = "/"
_ASK: Final = "/ask"
_IDLE_S: Final = 30
_WAITS_S: Final = 0.5
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def serve(offer: Offer | None, *, port: int, opened: Callable[[str], None]) -> None:
    """Serve the page until interrupted.

    Args:
        offer: what can be changed; None for the desk, from where one goes to any scenario.
        port: to listen on; 0 for any that is free.
        opened: called with the address once the page is there.
    """
    with _Server(offer, port) as server:
        opened(server.address)
        server.serve_forever()


def served(offer: Offer | None) -> str:
    """Serve the page beside what this process does, until it ends; return the address."""
    server = _Server(offer, 0)
    Thread(target=server.serve_forever, daemon=True).start()
    return server.address


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, offer: Offer | None, port: int) -> None:
        self.desk = Desk(offer)
        self.path = f"/{secrets.token_urlsafe(24)}"
        self.places = places()
        self.turn = Lock()
        super().__init__((_HOST, port), _Handler)
        self.host = f"{_HOST}:{self.server_port}"

    @property
    def address(self) -> str:
        return f"http://{self.host}{self.path}{'' if self.desk.first else _DESK}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over a browser that left."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _IDLE_S
    server_version = "simnet"
    sys_version = ""

    def do_GET(self) -> None:
        place = self._place()
        offer = None if place in {None, _DESK} else self.server.desk.offer_at(str(place))
        if place is None or (offer is None and place != _DESK):
            self._refuse(404)
            return
        desk = f"{self.server.path}{_DESK}"
        text, policy = _desk_document() if offer is None else _document(offer, desk)
        self._begin(200, "text/html; charset=utf-8", {"Content-Security-Policy": policy})
        self.wfile.write(text.encode())

    def do_POST(self) -> None:
        asked = self._place() or ""
        place = asked.removesuffix(_ASK)
        of = self.server.desk if place == _DESK else self.server.desk.offer_at(place)
        if place == asked or of is None:
            self._refuse(404)
            return
        if not self.server.places.acquire(blocking=False):
            self._refuse(503)
            return
        try:
            self._answer(of)
        except OSError:  # nobody waits for it
            return
        finally:
            self.server.places.release()

    def _answer(self, of: Any) -> None:
        length = self.headers.get("Content-Length", "")
        most, known = (MOST_BYTES, WANTED) if isinstance(of, Offer) else (MOST_PASTED_BYTES, ASKED)
        given = self.rfile.read(min(int(length), most)) if length.isdecimal() else b""
        try:
            told = json.loads(given)
            wanted: Callable[[Any, Any, Asker], None] = known[told["want"]]
        except (ValueError, TypeError, LookupError, RecursionError):
            self._refuse(400)
            return
        self._begin(200, "application/x-ndjson; charset=utf-8", {})
        try:
            wanted(of, told, self)
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

    def _place(self) -> str | None:
        """What is asked for below the token; None where that is not known, which gets nothing."""
        own = self.server.path
        if refused(self.path, self.headers, own, self.server.host):
            return None
        return self.path.removeprefix(own)

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


def _desk_document() -> tuple[str, str]:
    """The document of the desk, and its policy."""
    return _written("desk", scenarios=scenario_headings())


def _document(offer: Offer, desk: str) -> tuple[str, str]:
    """The document of a scenario's page, and its policy; `desk` is the address of the desk."""
    base = offer.base
    form = read_scenario(find_scenario(base.scenario))[0]
    effective = Member(base).effective()
    return _written(
        "page",
        desk=desk,
        name=effective.scenario,
        description=form.description,
        of=machine(effective),
        tunings=[(name, form.tunings[name].description) for name in offer.tunings],
        offered={"tunings": offer.tunings, "rounds": [one.name for one in ROUNDS]},
    )


def _written(which: str, /, **values: Any) -> tuple[str, str]:
    """A document and its policy: no request but to itself, no script but its own."""
    made = environment("simnet.page")
    script = copying() + "".join(
        made.get_template(f"{one}.js").render() for one in ("telling", which)
    )
    text = made.get_template(f"{which}.html").render(style=style(), script=script, **values)
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest(script)}'; style-src 'unsafe-inline';"
        " connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    return text, policy
