"""What ethtool prints of a port: `Key: value`, whatever its option.

Source: ethtool(8).
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["current_settings", "pairs", "speed_bps"]

_SECTION: Final = "Current hardware settings:"
_SPEED: Final = re.compile(r"^\s*Speed: (\d{1,9})Mb/s", re.MULTILINE)
_DIGITS: Final = 9


def pairs(text: str) -> dict[str, str]:
    """Return `key: value` lines; the first of a key counts."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        key, sign, value = line.partition(":")
        if sign:
            found.setdefault(key.strip(), value.strip())
    return found


def current_settings(text: str) -> dict[str, int]:
    """Return the numbers that are set, of `ethtool -l` (queues) and `-g` (rings), by name."""
    _, _, rest = text.partition(_SECTION)
    return {
        key: int(value)
        for key, value in pairs(rest).items()
        if value.isdecimal() and len(value) <= _DIGITS
    }


def speed_bps(text: str) -> int:
    """Return the link's rate of plain ethtool; 0 if the link is down."""
    matched = _SPEED.search(text)
    return int(matched[1]) * 10**6 if matched else 0
