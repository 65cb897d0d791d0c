"""Which file holds the output of which command.

A sosreport names files after commands. What administrators collect by hand has any name, so
outputs are known by what they begin with; commands that do not print which interface they speak of
(`ethtool -i`) by the end of the file's name. Parsers announce both, see
:mod:`simnet.importing.parser`.
"""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from simnet.importing.kind import LATER, kinds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simnet.importing.files.files import Files

__all__ = ["INTERFACE", "Output", "Outputs"]

# dev_valid_name: at most 15 characters, no slash, colon or space; a dash begins an option
_NAME: Final = r"(?!-|\.{1,2}$)[^\s/:]{1,15}"
INTERFACE: Final = re.compile(_NAME)
_MOST_FILES: Final = 5000
# a line of /proc/softirqs and of /proc/interrupts has 11 characters a CPU
_HEAD: Final = 8000


@functools.cache
def _starts() -> tuple[tuple[str, re.Pattern[str]], ...]:
    found = ((name, kind.start) for name, kind in kinds().items())
    return tuple((name, re.compile(start)) for name, start in found if start)


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
    """A command's output.

    Attributes:
        name: the file.
        text: what it holds.
    """

    name: str
    text: str


class Outputs:
    """The outputs among a host's files.

    Args:
        files: of the host.
        loose: names of files that somebody collected: these are known by what they begin with.
    """

    def __init__(self, files: Files, loose: Iterable[str]) -> None:
        self._files = files
        self._found: dict[tuple[str, str], Output] = {}
        names = {folder: files.names(folder) for _, folder, _ in _of_ports()}
        for kind, folder, pattern in _of_ports():
            for name in names[folder]:
                if matched := pattern.fullmatch(name):
                    again = LATER if folder.startswith(LATER) else ""
                    self._enter(again + kind, matched[1], f"{folder}/{name}")
        for name in itertools.islice(loose, _MOST_FILES):
            text = files.text(name)
            if text:
                self._look(name, text)

    def _enter(self, kind: str, interface: str, name: str) -> None:
        text = self._files.text(name)
        if text:
            self._found.setdefault((kind, interface), Output(name, text))

    def _look(self, name: str, text: str) -> None:
        """Enter a file by what it begins with."""
        for kind, pattern in _starts():
            matched = pattern.match(text[:_HEAD].lstrip("\ufeff"))
            if matched is None:
                continue
            again = LATER if name.startswith(LATER) else ""
            interface = matched.groupdict().get("interface") or ""
            if kinds()[kind].many:
                interface = name
            if not interface and kinds()[kind].of_port:
                interface = re.split(r"[_\- ]", name.rpartition("/")[2].removesuffix(".txt"))[-1]
            self._found.setdefault((again + kind, interface), Output(name, text))
            return

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

    def interfaces(self) -> list[str]:
        """Return the interfaces of which ethtool told something."""
        names = {interface for kind, interface in self._found if kind.startswith("ethtool")}
        return sorted(name for name in names if INTERFACE.fullmatch(name))
