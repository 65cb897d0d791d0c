"""All facts of all files, to be asked by rules."""

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Final

from simnet.announced import modules_below
from simnet.diagnose import foreign
from simnet.diagnose.fact import Fact, Series
from simnet.diagnose.page import Page

_MOST_FACTS: Final = 500_000
_MOST_LOGGED: Final = 10_000
# a person who pastes that few settings of a kind means them
_FEW: Final = 12
# how drivers call what a port has received: in all, by the kind of address, by queue
_SENT: Final = (
    (
        r"(?:(?:port|dev|hw|mac|mmc|vport|ieee)[._])?{0}_(?:packets(?:_phy|_n)?|pkts?(?:_n)?|ok|frames?(?:_ok)?"
        r"|total_(?:pkts|packets)|all_pkts|good_frames|framecount_gb?)|{1}packets|(?:good_)?frames_{2}"
    ),
    (
        r"(port[._])?{0}_(unicast|multicast|broadcast)(_packets)?|{0}_[umb]?cast_(packets|pkts|frames)"
        r"|(unicast|multicast|broadcast)_frames_{2}"
    ),
    r"({0}_queue_|{0}-?|queue_)\d+_?({0}_)?(packets|pkts)|.*ucast pkts {0}|rvec_\d+_{0}_pkts",
)
_SIDES: Final = {"rx": ("rx", "in", "received"), "tx": ("tx", "out", "sent")}


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
        self._subjects: dict[tuple[str, str], list[Fact]] = defaultdict(list)
        for fact in self.facts:
            self._kinds[fact.kind].append(fact)
            self._subjects[fact.kind, fact.subject].append(fact)
            self._series[fact.kind].setdefault((fact.subject, fact.name), []).append(fact)

    def of(self, kind: str, name: str = ".*", subject: str | None = None) -> list[Fact]:
        """Return the facts of a kind whose names match a pattern, in the order of reading."""
        matching = _matching(name)
        every = self._kinds.get(kind) if subject is None else self._subjects.get((kind, subject))
        return [fact for fact in every or () if matching(fact.name)]

    def series(self, kind: str, name: str = ".*", subject: str | None = None) -> list[Series]:
        """Return the counters of a kind whose names match a pattern, each with its samples."""
        matching = _matching(name)
        if subject is None:
            every = self._series.get(kind, {})
            return [Series(facts) for (_, called), facts in every.items() if matching(called)]
        found: dict[str, list[Fact]] = {}
        for fact in self.of(kind, name, subject):
            found.setdefault(fact.name, []).append(fact)
        return [Series(facts) for facts in found.values()]

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
                names = pattern.format(*_SIDES[side])
                found = self.series(kind, names, subject)
                rings = sum(one.value for one in found if "[" in one.last.name)
                ports = [one.value for one in found if "[" not in one.last.name] or [0.0]
                if total := max(max(ports) if number == 0 else sum(ports), rings):
                    return total
        return 0.0

    def logged(self, pattern: str) -> list[Fact]:
        """Return the lines that a pattern finds, with the group `subject` where it has one."""
        found = []
        for page in self.pages:
            found_here = _compiled(pattern).finditer(page.logged)
            at = number = before = 0
            for hit in itertools.islice(found_here, _MOST_LOGGED):
                number += page.logged.count("\n", at, hit.start())
                at = hit.start()
                line = number + 1
                if line == before:
                    continue
                before = line
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
    """Return what compares names with a pattern.

    `rx_drops[3]` is `rx_drops` of a queue, `rx_drops.nic` what the card itself counts.
    """
    whole = re.compile(pattern, re.IGNORECASE).fullmatch

    def matching(name: str) -> bool:
        if whole(name):
            return True
        plain = name.removesuffix(".nic").partition("[")[0]
        return plain != name and whole(plain) is not None

    return matching


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


@cache
def _readers() -> tuple[Any, ...]:
    from simnet.diagnose import readers as folder

    return modules_below(folder)


@cache
def outputs() -> dict[str, str]:
    """Return the output that each kind of fact is of; a kind that says it itself is left out."""
    found = {"log": "lines of a log"} | foreign.OUTPUTS
    for reader in _readers():
        found |= getattr(reader, "OUTPUTS", {})
    return found


def _read(pages: Iterable[Page]) -> Iterator[Fact]:
    for page in pages:
        system = foreign.system(page)
        if system is not None:
            yield system
            continue
        for reader in _readers():
            if reader.SIGN.search(page.text):
                yield from reader.read(page)


def gathered(pages: Sequence[Page]) -> Evidence:
    """Return what all readers find in the files."""
    return Evidence(pages, _read(pages))
