"""Which file holds the output of which command.

A sosreport names files after commands. What administrators collect by hand has any name, so
outputs are known by what they begin with; commands that do not print which interface they speak of
(`ethtool -i`) by the end of the file's name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.importing.files import Files

__all__ = ["INTERFACE", "Output", "Outputs"]

# dev_valid_name: at most 15 characters, no slash, colon or space
INTERFACE: Final = re.compile(r"(?!\.{1,2}$)[^\s/:]{1,15}")
_MOST_FILES: Final = 5000
_HEAD: Final = 400
_STARTS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("lscpu", r'\s*(Architecture:|\{\s*"lscpu")'),
        ("lscpu -e", r"CPU\s+(NODE|SOCKET|CORE)\s|# The following is the parsable format"),
        ("numactl -H", r"available: \d+ nodes? \("),
        ("lstopo", r"\s*(<\?xml[^>]*>\s*)?(<!DOCTYPE topology[^>]*>\s*)?<topology"),
        ("ethtool -i", r"driver: "),
        ("ethtool -l", r"Channel parameters for (?P<interface>\S+):"),
        ("ethtool -g", r"Ring parameters for (?P<interface>\S+):"),
        ("ethtool", r"Settings for (?P<interface>\S+):"),
        ("sysctl -a", r"(abi|crypto|debug|dev|fs|kernel|net|user|vm)\.[\w.-]+ ?= ?"),
        ("os-release", r"(?=[\s\S]*^(ID|VERSION_ID)=)[A-Z_]+="),
        ("uname -a", r"Linux \S+ \d+\.\d+\S* "),
        ("cpuinfo", r"(processor|vendor_id|system type|cpu)\s*: "),
    )
)
# where a sosreport, or the root of a host, has them
_PLACES: Final = {
    "lscpu": ("sos_commands/processor/lscpu", "lscpu"),
    "lscpu -e": ("sos_commands/processor/lscpu_-ae",),
    "numactl -H": (
        "sos_commands/numa/numactl_--hardware",
        "sos_commands/hardware/numactl_--hardware",
        "numactl",
    ),
    "cpuinfo": ("proc/cpuinfo",),
    "sysctl -a": ("sos_commands/kernel/sysctl_-a",),
    "os-release": ("etc/os-release", "usr/lib/os-release"),
    "uname -a": ("sos_commands/kernel/uname_-a", "sos_commands/host/uname_-a", "uname"),
}
_SOS: Final = "sos_commands/networking"
_FILE: Final = re.compile(r"ethtool(?:_(-[igl]))?_([^\s/:]{1,15})")


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
        flat: the folder holds outputs that somebody collected, so each file is looked into.
    """

    def __init__(self, files: Files, *, flat: bool) -> None:
        self._files = files
        self._found: dict[tuple[str, str], Output] = {}
        for name in files.names(_SOS):
            matched = _FILE.fullmatch(name)
            if matched is None:
                continue
            kind = f"ethtool {matched[1]}" if matched[1] else "ethtool"
            self._enter(kind, matched[2], f"{_SOS}/{name}")
        if flat:
            for name, text in _texts(files):
                self._look(name, text)

    def _enter(self, kind: str, interface: str, name: str) -> None:
        text = self._files.text(name)
        if text is not None:
            self._found.setdefault((kind, interface), Output(name, text))

    def _look(self, name: str, text: str) -> None:
        """Enter a file by what it begins with."""
        for kind, pattern in _STARTS:
            matched = pattern.match(text[:_HEAD].lstrip("\ufeff"))
            if matched is None:
                continue
            interface = matched.groupdict().get("interface") or ""
            if kind == "ethtool -i":
                interface = re.split(r"[_\- ]", name.rpartition("/")[2].removesuffix(".txt"))[-1]
            self._found.setdefault((kind, interface), Output(name, text))
            return

    def one(self, kind: str, interface: str = "") -> Output | None:
        """Return the output of a command; None if there is none."""
        for name in _PLACES.get(kind, ()) if not interface else ():
            text = self._files.text(name)
            if text:
                return Output(name, text)
        return self._found.get((kind, interface))

    def interfaces(self) -> list[str]:
        """Return the interfaces of which ethtool told something."""
        names = {interface for kind, interface in self._found if kind.startswith("ethtool")}
        return sorted(name for name in names if INTERFACE.fullmatch(name))


def _texts(files: Files) -> Iterator[tuple[str, str]]:
    for name in files.walk()[:_MOST_FILES]:
        text = files.text(name)
        if text:
            yield name, text
