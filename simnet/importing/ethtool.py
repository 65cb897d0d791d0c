"""What ethtool prints of a port.

Its options differ in form; `Key: value` is common to all that is read here. Parsers of insights
know `-i`, `-g`, `-c` and `-k`; `-l` and `-x` have none elsewhere.

Source: ethtool(8).
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["channels", "driver_of", "pairs", "rings", "speed_bps", "table_queues"]

_SECTION: Final = "Current hardware settings:"
_SPEED: Final = re.compile(r"^\s*Speed: (\d{1,9})Mb/s", re.MULTILINE)
_ROW: Final = re.compile(r"^\s*\d+:((?:\s+\d{1,5})+)\s*$", re.MULTILINE)
_DIGITS: Final = 9


def pairs(text: str) -> dict[str, str]:
    """Return `key: value` lines; the first of a key counts."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        key, sign, value = line.partition(":")
        if sign:
            found.setdefault(key.strip(), value.strip())
    return found


def _current(text: str) -> dict[str, int]:
    """Return the numbers below `Current hardware settings`."""
    _, sign, rest = text.partition(_SECTION)
    return {
        key: int(value)
        for key, value in pairs(rest if sign else "").items()
        if value.isdecimal() and len(value) <= _DIGITS
    }


def channels(text: str) -> dict[str, int]:
    """Return `RX`, `TX`, `Other` and `Combined` of `ethtool -l`, as they are set."""
    return _current(text)


def rings(text: str) -> dict[str, int]:
    """Return `RX`, `TX` and others of `ethtool -g`, as they are set."""
    return _current(text)


def driver_of(text: str) -> dict[str, str]:
    """Return `driver`, `version`, `bus-info` of `ethtool -i`."""
    return pairs(text)


def speed_bps(text: str) -> int:
    """Return the link's rate of plain ethtool; 0 if the link is down."""
    matched = _SPEED.search(text)
    return int(matched[1]) * 10**6 if matched else 0


def table_queues(text: str) -> frozenset[int]:
    """Return the queues that the indirection table of `ethtool -x` uses."""
    table, _, _ = text.partition("RSS hash key")
    return frozenset(int(queue) for row in _ROW.findall(table) for queue in row.split())
