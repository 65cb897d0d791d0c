"""What ethtool prints of a port: `Key: value`, whatever its option.

Source: ethtool(8), and its ethtool.c and netlink/*.c: `dump_coalesce`, `dump_features`,
`dump_rxfh`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from simnet.importing.parser import Kind, Parser, Told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.importing.evidence import Evidence

__all__ = ["PARSER", "current_settings", "link_bps", "most", "pairs", "speed_bps"]

_SECTION: Final = "Current hardware settings:"
_SPEED: Final = re.compile(r"^\s*Speed: (\d{1,9})Mb/s", re.MULTILINE)
_UNKNOWN_MBPS: Final = 0xFFFF
_MOST_MBPS: Final = 10**6
_DIGITS: Final = 9
_COALESCE: Final = re.compile(
    r"(?:rx|tx)-(?:usecs|frames)(?:-irq)?|stats-block-usecs|adaptive-[rt]x|cqe-mode-[rt]x"
)
# lines with both directions
_BOTH: Final = re.compile(r"^(Adaptive|CQE mode) RX: +(\S+) +TX: +(\S+)", re.MULTILINE)
# what `ethtool -k` prints, and what `ethtool -K` takes
_FEATURES: Final = {
    "tcp-segmentation-offload": "tso",
    "generic-receive-offload": "gro",
    "large-receive-offload": "lro",
    "rx-checksumming": "rx",
    "tx-checksumming": "tx",
    "scatter-gather": "sg",
    "ntuple-filters": "ntuple",
}
_FIXED: Final = ("ntuple", "[fixed]")
_PAUSE: Final = {"Autonegotiate": "autoneg", "RX": "rx", "TX": "tx"}
_TABLE_ROW: Final = re.compile(r"^\s*\d{1,5}:((?:\s+\d{1,4})+)\s*$", re.MULTILINE)
_KEY: Final = re.compile(r"^RSS hash key:\s*\n([0-9a-fA-F:]{2,600})\s*$", re.MULTILINE)


def pairs(text: str) -> dict[str, str]:
    """Return `key: value` lines; the first of a key counts."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        key, sign, value = line.partition(":")
        if sign:
            found.setdefault(key.strip(), value.strip())
    return found


def _numbers(text: str) -> dict[str, int]:
    return {
        key: int(value)
        for key, value in pairs(text).items()
        if value.isdecimal() and len(value) <= _DIGITS
    }


def current_settings(text: str) -> dict[str, int]:
    """Return the numbers that are set, of `ethtool -l` (queues) and `-g` (rings), by name."""
    return _numbers(text.partition(_SECTION)[2])


def most(text: str) -> dict[str, int]:
    """Return the largest numbers that can be set, of the same listings, by name."""
    return _numbers(text.partition(_SECTION)[0])


def speed_bps(text: str) -> int:
    """Return the link's rate of plain ethtool; 0 if the link is down."""
    matched = _SPEED.search(text)
    return link_bps(int(matched[1])) if matched else 0


def link_bps(mbps: int) -> int:
    """Return the rate of a speed in Mbit/s; 0 where it stands for an unknown one.

    SPEED_UNKNOWN is -1, as a number of 16 or 32 bits.
    """
    return mbps * 10**6 if 0 < mbps <= _MOST_MBPS and mbps != _UNKNOWN_MBPS else 0


def _settings(evidence: Evidence) -> Iterator[Told]:
    for kind, parse in _OPTIONS.items():
        for nic, told in evidence.of_ports(kind):
            for setting, value in parse(told.text):
                option = kind.split()[1].upper()
                yield Told(f"ethtool {option} {nic.name} {setting}", value, told.name)


def _coalesce(text: str) -> Iterator[tuple[str, str]]:
    found = list(pairs(text).items())
    for title, *both in _BOTH.findall(text):
        name = title.lower().replace(" ", "-")
        found += [(f"{name}-{way}", one) for way, one in zip(("rx", "tx"), both, strict=True)]
    for name, value in found:
        if _COALESCE.fullmatch(name) and value not in {"", "n/a"}:
            yield name, value


def _features(text: str) -> Iterator[tuple[str, str]]:
    for key, value in pairs(text).items():
        state, _, more = value.partition(" ")
        # what is off and simnet does not have, changes nothing; nor does what the driver lacks
        without = (key, state) == _NO_LRO or (_FEATURES.get(key), more) == _FIXED
        if key in _FEATURES and state in {"on", "off"} and not without:
            yield _FEATURES[key], state


_NO_LRO: Final = ("large-receive-offload", "off")


def _pause(text: str) -> Iterator[tuple[str, str]]:
    for key, value in pairs(text).items():
        if key in _PAUSE and value in {"on", "off"}:
            yield _PAUSE[key], value


def _channels(text: str) -> Iterator[tuple[str, str]]:
    for key, value in current_settings(text).items():
        if key in {"RX", "TX", "Combined"} and value:
            yield key.lower(), str(value)


def _hash(text: str) -> Iterator[tuple[str, str]]:
    """Yield to how many queues RSS sorts, if evenly to the first ones, and its key."""
    table = [int(one) for row in _TABLE_ROW.findall(text) for one in row.split()]
    if table:
        queues = max(table) + 1
        if all(queue == place % queues for place, queue in enumerate(table)):
            yield "equal", str(queues)
        else:
            yield "weight", " ".join(str(table.count(queue)) for queue in range(queues))
    if key := _KEY.search(text):
        yield "hkey", key[1].lower()


_OPTIONS: Final = {
    "ethtool -c": _coalesce,
    "ethtool -k": _features,
    "ethtool -a": _pause,
    "ethtool -l": _channels,
    "ethtool -x": _hash,
}


def _kind(option: str, start: str) -> Kind:
    typed = f"ethtool {option}".strip()
    return Kind(typed, start, command=f"{typed} {{port}}", folder="networking")


_NAMED: Final = r"{} (?P<interface>\S+):"
PARSER: Final = Parser(
    kinds=(
        _kind("-i", "driver: "),
        _kind("-l", _NAMED.format("Channel parameters for")),
        _kind("-g", _NAMED.format("Ring parameters for")),
        _kind("-c", _NAMED.format("Coalesce parameters for")),
        _kind("-k", _NAMED.format("(?:Features|Offload parameters) for")),
        _kind("-a", _NAMED.format("Pause parameters for")),
        _kind("-x", r"RX flow hash indirection table for (?P<interface>\S+) with"),
        _kind("", _NAMED.format("Settings for")),
    ),
    settings=_settings,
)
