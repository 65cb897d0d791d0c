"""Which file holds the output of which command.

A sosreport names files after commands. What administrators collect by hand has any name, so
outputs are known by the prompt before them, by what they begin with, or by any of their lines;
commands that do not print which interface they speak of (`ethtool -i`) by the end of the file's
name. Parsers announce all of it, see :mod:`simnet.importing.parser`.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from simnet.importing.kind import LATER, kinds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simnet.importing.files.files import Files
    from simnet.importing.kind import Kind
    from simnet.importing.loose import Piece

# dev_valid_name: at most 15 characters, no slash, colon or space; a dash begins an option
_NAME: Final = r"(?!-|\.{1,2}$)[^\s/:]{1,15}"
INTERFACE: Final = re.compile(_NAME)
# a line of /proc/softirqs and of /proc/interrupts has 11 characters a CPU
_HEAD: Final = 8000
_SEARCHED: Final = 256 << 10
_MOST_IN_ONE: Final = 200
# a name of a file ends with that of an interface: eth0, enp3s0f1np1, ib0, p1p1, dsl0
_NUMBERED: Final = re.compile(r"[a-z][a-z0-9]{0,11}\d[a-z0-9]{0,6}(?:\.\d{1,4})?")
_PLAIN: Final = frozenset({"wan", "lan", "dmz"})
_QUEUES: Final = {
    "ethtool -x": re.compile(r" with (\d{1,4}) RX ring"),
    "ethtool -l": re.compile(
        r"Current hardware settings:[\s\S]*?^Combined:\s*(\d{1,4})$", re.MULTILINE
    ),
}
_GREP: Final = r"[ef]?grep(?: -\S+)* (?:'[^'\n]*'|\"[^\"\n]*\"|[^\s'\"]+)"
_SUFFIX: Final = re.compile(r"\.(?:txt|log|out|text)$")


@functools.cache
def _starts() -> tuple[tuple[str, re.Pattern[str]], ...]:
    found = ((name, kind.start) for name, kind in kinds().items())
    return tuple((name, re.compile(start)) for name, start in found if start)


@functools.cache
def _lines() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the pattern of a line that tells each kind."""
    found = ((name, kind.line) for name, kind in kinds().items())
    return tuple((name, re.compile(f"^(?:{line})", re.MULTILINE)) for name, line in found if line)


@functools.cache
def _heads() -> dict[str, re.Pattern[str]]:
    """Return the pattern of the first line of kinds that say there of which interface they are."""
    found = ((name, kind.start) for name, kind in kinds().items() if "(?P<interface>" in kind.start)
    return {name: re.compile(f"^(?:{start})", re.MULTILINE) for name, start in found}


@functools.cache
def _commands() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the pattern of what is typed for each kind."""
    found = []
    for name, kind in kinds().items():
        if kind.command:
            words = (re.escape(word) for word in kind.command.split())
            typed = r" +".join(words).replace(r"\{port\}", f"(?P<interface>{_NAME})")
            found.append((name, re.compile(rf"(?:/\S*/)?{typed}(?: *[|;&>].*)?")))
        for file in kind.files:
            typed = (
                rf"(?:(?:(?:cat|head|tail|more|less)(?: -\S+)*|{_GREP}) )?/?{re.escape(file)}"
                r"(?: *[|;&>].*)?"
            )
            found.append((name, re.compile(typed)))
    return tuple(found)


@functools.cache
def _of_ports() -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    """Return kind, folder and pattern of the names of what there is for each interface."""
    found = []
    for name, kind in kinds().items():
        places = kind.places if kind.of_port else ()
        for place in (*places, *(LATER + one for one in places if kind.twice)):
            folder, _, file = place.rpartition("/")
            pattern = re.escape(file).replace(r"\{port\}", f"({_NAME})")
            found.append((name, folder, re.compile(pattern)))
    return tuple(found)


@dataclass(frozen=True)
class Output:
    """A command's output."""

    name: str  # the file
    text: str  # what it holds
    headed: bool = False  # the text, or the prompt before it, says of which interface it is


@dataclass(frozen=True)
class Part:
    """An output among the pieces."""

    file: str  # that it stands in
    name: str  # the file, with the line where it begins if there are several
    kind: str  # of output
    interface: str  # that it is of; empty if it is of none
    first: bool  # no output before it is of the same kind and interface


class Outputs:
    """The outputs among a host's files.

    Args:
        files: of the host.
        pieces: that somebody collected: these are known by their prompts and formats.
    """

    def __init__(self, files: Files, pieces: Iterable[Piece]) -> None:
        self._files = files
        self._found: dict[tuple[str, str], Output] = {}
        # the kinds of output of each file that was collected, by its name
        self.seen: dict[str, list[tuple[str, str]]] = {}
        names = {folder: files.names(folder) for _, folder, _ in _of_ports()}
        for kind, folder, pattern in _of_ports():
            for name in names[folder]:
                if matched := pattern.fullmatch(name):
                    again = LATER if folder.startswith(LATER) else ""
                    self._enter(again + kind, matched[1], f"{folder}/{name}")
        # the host that the first prompt with one names, and the file; empty if none does
        self.prompted = ("", "")
        # what was typed for each part of a text whose format nobody knows, by file and
        # line
        self.unknown: dict[str, str] = {}
        self.parts: list[Part] = []  # each output that was known among the pieces
        for piece in pieces:
            if piece.host and not self.prompted[0]:
                self.prompted = (piece.host, piece.name)
            seen = self.seen.setdefault(piece.file, [])
            before = len(seen)
            self._look(piece)
            if len(seen) == before and piece.command and not piece.held:
                self.unknown[piece.name] = piece.command

    def _enter(self, kind: str, interface: str, name: str) -> None:
        text = self._files.text(name)
        if text:
            self._found.setdefault((kind, interface), Output(name, text))

    def _look(self, piece: Piece) -> None:
        """Enter a piece by its command, by what it begins with, or by what lines in it begin."""
        for kind, pattern in _commands() if piece.command else ():
            matched = pattern.fullmatch(piece.command or "")
            if matched is not None:
                self._put(kinds()[kind], matched, piece, piece.text)
                return
        for kind, pattern in _starts():
            matched = pattern.match(piece.text[:_HEAD])
            if matched is not None:
                end = self._next(piece, matched.end(), kind)
                self._put(kinds()[kind], matched, piece, piece.text[:end])
                self._inside(piece, end)
                return
        self._inside(piece, 0)

    def _inside(self, piece: Piece, place: int) -> None:
        """Enter the outputs that follow one after another in a text from a place on."""
        text = piece.text[:_SEARCHED]
        for _ in range(_MOST_IN_ONE):
            matches = [(m, kind) for kind, p in _lines() if (m := p.search(text, place))]
            if not matches:
                return
            matched, kind = min(matches, key=lambda one: one[0].start())
            begin, place = matched.start(), self._next(piece, matched.end(), kind)
            self._put(kinds()[kind], matched, piece, piece.text[begin:place], begin)

    def _next(self, piece: Piece, place: int, kind: str) -> int:
        """Return where an output of another kind, or of another port, begins."""
        text = piece.text[:_SEARCHED]
        found = [
            matched.start()
            for other, pattern in _lines()
            if other != kind
            if (matched := pattern.search(text, place))
        ]
        if (head := _heads().get(kind)) and (matched := head.search(text, place)):
            found.append(matched.start())
        return min(found, default=len(piece.text))

    def _put(
        self, kind: Kind, matched: re.Match[str], piece: Piece, text: str, begin: int = 0
    ) -> None:
        name = piece.name
        lines = piece.text.count("\n", 0, begin)
        if lines and self.seen[piece.file]:
            first = piece.name.removeprefix(f"{piece.file}:")
            name = f"{piece.file}:{lines + (int(first) if first.isdecimal() else 1)}"
        again = LATER if piece.file.startswith(LATER) else ""
        interface = matched.groupdict().get("interface") or ""
        if kind.many:
            interface = piece.name
        headed = bool(interface) and not kind.many
        if not interface and kind.of_port:
            interface = _interface(piece)
        self.seen[piece.file].append((kind.name, interface))
        output = Output(name, text, headed)
        kept = self._found.setdefault((again + kind.name, interface), output)
        self.parts.append(Part(piece.file, name, kind.name, interface, kept is output))

    def one(self, kind: str, interface: str = "", *, later: bool = False) -> Output | None:
        """Return the output of a command, the first or the one taken later; None if none is."""
        again = LATER if later else ""
        for name in kinds()[kind].places if not interface else ():
            text = self._files.text(again + name)
            if text:
                return Output(again + name, text)
        return self._found.get((again + kind, interface))

    def every(self, kind: str) -> list[Output]:
        """Return all outputs of a command of which there may be several."""
        single = self.one(kind)
        found = [told for (name, _), told in self._found.items() if name == kind]
        return found if single is None or single in found else [single, *found]

    def pair(self, kind: str, interface: str = "") -> tuple[Output, Output] | None:
        """Return the output of a command and that taken later; None unless both are there."""
        first, second = self.one(kind, interface), self.one(kind, interface, later=True)
        return None if first is None or second is None else (first, second)

    def queues(self) -> int:
        """Return the most queues that ethtool tells of a port; 0 if it tells none."""
        found = [
            int(matched[1])
            for (kind, _), told in self._found.items()
            if (pattern := _QUEUES.get(kind)) and (matched := pattern.search(told.text))
        ]
        return max(found, default=0)

    def of_interfaces(self) -> list[tuple[str, Output]]:
        """Return what ethtool told of each interface, in the order of their names."""
        of = [(i, told) for (kind, i), told in self._found.items() if kind.startswith("ethtool")]
        return sorted(((i, t) for i, t in of if INTERFACE.fullmatch(i)), key=lambda one: one[0])

    def interfaces(self) -> list[str]:
        """Return the interfaces of which ethtool told something."""
        names = {interface for kind, interface in self._found if kind.startswith("ethtool")}
        return sorted(name for name in names if INTERFACE.fullmatch(name))


def _interface(piece: Piece) -> str:
    """Return the interface that a file's name ends with; empty if none is to be seen in it.

    A pasted text has a name of its own, in which there may be anything.
    """
    name = _SUFFIX.sub("", piece.file.rpartition("/")[2])
    parts = [part for part in re.split(r"[_\- ]", name)[1:] if part]
    fits = [one for one in parts if _NUMBERED.fullmatch(one) or one in _PLAIN]
    return fits[-1] if fits else parts[-1] if parts and piece.name == piece.file else ""
