"""The first page: what somebody pastes is diagnosed, and becomes a host whose knobs can be moved.

Each page of a scenario has a place below the desk's own. What a browser sends is of a stranger: it
is text, and is read as `simnet diagnose` and `simnet import` read a file.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from simnet.errors import InputError
from simnet.files import write_text
from simnet.page.offer import Offer, offer_of
from simnet.report.html.page import fragment
from simnet.scenario.scenarios import SCENARIO_FILE, scenario_names
from simnet.study.work.cases import Case

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simnet.diagnose.diagnosis import Diagnosis
    from simnet.page.answers import Asker

_SCENARIO: Final = "/scenario/"
_HOST: Final = "/host/"
_PASTED: Final = "pasted.txt"
# of what is kept while the page is served
_MOST_HOSTS: Final = 100


class Desk:
    """What a served page knows: scenarios, and hosts that were pasted.

    Args:
        offer: what the first page is of; None for the desk itself.
    """

    def __init__(self, offer: Offer | None = None) -> None:
        self.first = offer
        self._offers: dict[str, Offer] = {}
        self._hosts = 0
        self._lock = Lock()
        self._folder = TemporaryDirectory(prefix="simnet-page-")

    def offer_at(self, place: str) -> Offer | None:
        """What the page at a place below the desk is of; None for none.

        The first page is at the empty place, and the desk at `/`.
        """
        if not place:
            return self.first
        with self._lock:
            name = place.removeprefix(_SCENARIO)
            if place not in self._offers and name != place and name in scenario_names():
                self._offers[place] = offer_of(Case(name))
            return self._offers.get(place)

    def pasted(self, text: str) -> Path:
        """Keep what was pasted, in a folder of its own."""
        with self._lock:
            if self._hosts == _MOST_HOSTS:
                raise InputError("too much was pasted: begin again", key="page")
            self._hosts += 1
            folder = Path(self._folder.name) / str(self._hosts)
        folder.mkdir()
        file = folder / _PASTED
        write_text(file, text.encode("utf-8", "replace").decode("utf-8"))
        return file

    def begin(self, scenario: Path) -> str:
        """The place of a new page of a scenario."""
        offer = offer_of(Case(str(scenario)))
        with self._lock:
            place = f"{_HOST}{len(self._offers) + 1}"
            self._offers[place] = offer
        return place


def diagnose(desk: Desk, told: Any, asker: Asker) -> None:
    """Where it hurts, by what was pasted."""
    from simnet.diagnose.askable import askable
    from simnet.diagnose.described import Described
    from simnet.diagnose.diagnosis import diagnose as by_files
    from simnet.importing.source import Sources

    sources = Sources([str(desk.pasted(_text(told)))])
    with Described(sources) as described:
        found = askable(by_files(sources), described)
    # where it is kept is nobody's to type: it goes away with the page
    _say(replace(found, sources=(_PASTED,)), asker)


def live(_desk: Desk, _told: Any, asker: Asker) -> None:
    """Where this machine hurts."""
    from simnet.diagnose.askable import askable
    from simnet.diagnose.described import Described
    from simnet.diagnose.diagnosis import diagnose_live

    with Described(()) as described:
        _say(askable(diagnose_live(), described), asker)


def host(desk: Desk, told: Any, asker: Asker) -> None:
    """The place of a page with the knobs of the host that was pasted, or of this one."""
    from simnet.diagnose.imported import import_host

    here = told.get("here") is True
    file = desk.pasted("" if here else _text(told))
    with asker.turn():
        found = import_host(None if here else [str(file)])
        if not found.runs:
            raise InputError(f"{found.role}: its load cannot be simulated", key="page")
        folder = file.with_name("host")
        found.write(folder)
        asker.say({"place": desk.begin(folder / SCENARIO_FILE)})


ASKED: Final[Mapping[str, Callable[[Desk, Any, Asker], None]]] = {
    "diagnose": diagnose,
    "host": host,
    "live": live,
}
"""What a browser can ask the desk for."""


def _text(told: Any) -> str:
    text = told.get("text")
    if not isinstance(text, str) or not text.strip():
        raise InputError("nothing is pasted", key="page")
    return text


def _say(found: Diagnosis, asker: Asker) -> None:
    from simnet.report.html.kinds.diagnosis import KIND

    (part,) = KIND.parts([("", found.document())], False)  # noqa: FBT003 (as all kinds)
    asker.say({"answer": fragment(part, "found")})
