"""All facts of all files, to be asked by rules."""

from __future__ import annotations

import itertools
import pkgutil
import re
from collections import defaultdict
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from simnet.diagnose.fact import Fact, Series

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from simnet.diagnose.page import Page

__all__ = ["Evidence", "gathered", "outputs"]

_MOST_FACTS: Final = 500_000
_MOST_LOGGED: Final = 10_000
# a person who pastes that few settings of a kind means them
_FEW: Final = 12
# how drivers call what a port has received: in all, by the kind of address, by queue
_SENT: Final = (
    r"(?:port_)?{0}_(packets(_phy)?|pkts|ok|frames|total_pkts|good_frames)",
    r"(port[._])?{0}_(unicast|multicast|broadcast)(_packets)?|{0}_[umb]?cast_(packets|pkts|frames)",
    r"({0}_queue_|{0}-?|queue_)\d+_?({0}_)?(packets|pkts)|.*ucast pkts {0}",
)


class Evidence:
    """What the files say.

    Args:
        pages: the files.
        facts: of them, in the order of reading.
    """

    def __init__(self, pages: Sequence[Page], facts: Iterable[Fact]) -> None:
        self.pages = pages
        self.facts = list(itertools.islice(facts, _MOST_FACTS))
        self._kinds: dict[str, list[Fact]] = defaultdict(list)
        self._series: dict[str, dict[tuple[str, str], list[Fact]]] = defaultdict(dict)
        for fact in self.facts:
            self._kinds[fact.kind].append(fact)
            self._series[fact.kind].setdefault((fact.subject, fact.name), []).append(fact)

    def of(self, kind: str, name: str = ".*", subject: str | None = None) -> list[Fact]:
        """Return the facts of a kind whose names match a pattern, in the order of reading."""
        matching = _matching(name)
        return [
            fact
            for fact in self._kinds.get(kind, ())
            if matching(fact.name) and subject in {None, fact.subject}
        ]

    def series(self, kind: str, name: str = ".*", subject: str | None = None) -> list[Series]:
        """Return the counters of a kind whose names match a pattern, each with its samples."""
        matching = _matching(name)
        return [
            Series(facts)
            for (about, called), facts in self._series.get(kind, {}).items()
            if matching(called) and subject in {None, about}
        ]

    def last(self, kind: str, name: str, subject: str | None = None) -> Fact | None:
        """Return the newest fact of a name; None if no file says it."""
        found = self.of(kind, name, subject)
        return found[-1] if found else None

    def value(self, kind: str, name: str, subject: str | None = None) -> float | None:
        """Return the newest value of a name; None if no file says it."""
        found = self.last(kind, name, subject)
        return None if found is None else found.value

    def said(self, kind: str, name: str, subject: str | None = None) -> str:
        """Return the newest value of a name as printed; empty if no file says it."""
        found = self.last(kind, name, subject)
        return "" if found is None else found.text

    def subjects(self, kind: str) -> list[str]:
        """Return what the facts of a kind are about, each once."""
        return list(dict.fromkeys(fact.subject for fact in self._kinds.get(kind, ())))

    def packets(self, subject: str, side: str) -> float:
        """Return how many packets a port has received (`rx`) or sent (`tx`); 0 if not known."""
        for kind in ("stat", "link"):
            for number, pattern in enumerate(_SENT):
                names = pattern.format(side)
                values = [one.value for one in self.series(kind, names, subject)]
                if values and (total := max(values) if number == 0 else sum(values)):
                    return total
        return 0.0

    def logged(self, pattern: str) -> list[Fact]:
        """Return the lines that a pattern finds, with the group `subject` where it has one."""
        found = []
        for page in self.pages:
            found_here = _compiled(pattern).finditer(page.logged)
            at = number = 0
            for hit in itertools.islice(found_here, _MOST_LOGGED):
                number += page.logged.count("\n", at, hit.start())
                at = hit.start()
                line = number + 1
                subject = hit.groupdict().get("subject") or ""
                text = page.lines[line - 1].strip()
                found.append(Fact("log", subject, "", 0, page.name, line, text))
        return found

    def meant(self, fact: Fact) -> bool:
        """Return whether a setting was picked by whoever pasted it: its file has few of a kind."""
        file = [other for other in self._kinds[fact.kind] if other.file == fact.file]
        return len(file) <= _FEW and not fact.file.startswith(("/", "sos_commands/"))


@cache
def _matching(pattern: str) -> Callable[[str], bool]:
    """Return what compares names with a pattern; `rx_drops[3]` is `rx_drops` of a queue."""
    whole = re.compile(pattern, re.IGNORECASE).fullmatch

    def matching(name: str) -> bool:
        return bool(whole(name) or ("[" in name and whole(name.partition("[")[0])))

    return matching


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


@cache
def _readers() -> tuple[Any, ...]:
    from simnet.diagnose import readers as folder

    names = (found.name for found in pkgutil.iter_modules(folder.__path__))
    return tuple(import_module(f"{folder.__name__}.{name}") for name in names)


@cache
def outputs() -> dict[str, str]:
    """Return the output that each kind of fact is of; a kind that says it itself is left out."""
    found = {"log": "lines of a log"}
    for reader in _readers():
        found |= getattr(reader, "OUTPUTS", {})
    return found


def _read(pages: Iterable[Page]) -> Iterator[Fact]:
    for page in pages:
        for reader in _readers():
            if reader.SIGN.search(page.text):
                yield from reader.read(page)


def gathered(pages: Sequence[Page]) -> Evidence:
    """Return what all readers find in the files."""
    return Evidence(pages, _read(pages))
