"""What the kernel's log says of ports: their drivers, slots, and how fast each link came up.

A driver logs as `driver slot port: what`; `netdev_printk` makes it so. A port that was renamed has
its last name. Of links the last that came up counts.

Source: net/core/dev.c of Linux: `__netdev_printk`, `dev_change_name`; what drivers below
drivers/net/ethernet and drivers/net/phy/phy.c, `phy_print_status`, say of links.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from simnet.importing.kind import HAPPENED, Kind
from simnet.importing.parser import Parser

_LINE: Final = re.compile(
    r"(?:^|[\]:] +)(?P<driver>[a-z][\w-]{1,23}) (?P<at>(?=\S*\d)[\w.:-]{4,40})"
    r" (?P<port>[a-z][\w.-]{1,14}): (?P<said>.{1,200})$",
    re.MULTILINE,
)
_UP: Final = re.compile(
    r"\blink(?: is)? up(?:,| at| -|:)? *(\d{1,6}(?:\.\d)?) ?([GM])bps", re.IGNORECASE
)
_RENAMED: Final = re.compile(r"renamed from (\S{1,15})")
_SLOT: Final = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_MBPS: Final = {"G": 1000, "M": 1}
_MOST: Final = 200_000


@dataclass
class LoggedPort:
    """What a log says of a port."""

    name: str  # its last
    driver: str  # that logs of it
    slot: str  # its PCI address; empty if it has none
    link_mbps: int  # of its link when it last came up; 0 if the log does not say it
    line: int  # of the log, from 1, where that stands, or the first of it


def logged_ports(text: str) -> Iterator[LoggedPort]:
    """Yield the ports that drivers log of, in the order in which they came up."""
    found: dict[str, LoggedPort] = {}
    for number, line in enumerate(text.splitlines()[:_MOST], 1):
        matched = _LINE.search(line)
        if matched is None:
            continue
        name, said = matched["port"], matched["said"]
        if (renamed := _RENAMED.match(said)) and renamed[1] in found:
            found[name] = found.pop(renamed[1])
            found[name].name = name
        slot = matched["at"] if _SLOT.fullmatch(matched["at"]) else ""
        port = found.setdefault(name, LoggedPort(name, matched["driver"], slot, 0, number))
        if up := _UP.search(said):
            port.link_mbps = round(float(up[1]) * _MBPS[up[2].upper()])
            port.line = number
    yield from found.values()


PARSER: Final = Parser(
    kinds=(
        Kind(
            "dmesg",
            line=(
                r"(?:\[ *\d+\.\d{6}\] |\[\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}\] |kernel: "
                r"|\w{3} +\d+ [\d:]{8} \S+ kernel: )"
            ),
            command="dmesg",
            folder="kernel",
            idle=HAPPENED,
        ),
    )
)
