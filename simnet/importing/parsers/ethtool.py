"""What ethtool prints of a port: `Key: value`, whatever its option.

Source: ethtool(8), and its ethtool.c and netlink/*.c: `dump_coalesce`, `dump_features`,
`dump_rxfh`.
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.importing.evidence import Evidence
from simnet.importing.kind import Kind, Told
from simnet.importing.parser import Parser
from simnet.scenario.parts.nic.schema import MOST_QUEUES, Nic

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
_TABLE_ROW: Final = re.compile(r"^[ \t]*(\d{1,5}):((?:[ \t]+\d{1,4})+)[ \t]*$", re.MULTILINE)
_RINGS: Final = re.compile(r" with (\d{1,4}) RX ring")
# cards with longer keys hash addresses and ports, 36 bytes at most, with the first 40 of them
_KEY_CHARACTERS: Final = 3 * 40 - 1
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


def rings_of(text: str) -> int | None:
    """Return how many receive rings `ethtool -x` counts; None if it does not say it."""
    matched = _RINGS.search(text)
    return int(matched[1]) or None if matched else None


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
                why = _WHY.get(setting, "") if kind == "ethtool -l" else ""
                if kind == "ethtool -l" and int(value) > MOST_QUEUES:
                    why = f"a port of the model has at most {MOST_QUEUES} queues"
                if setting == _BLOCKS and _begins_in_blocks(nic.text("driver")):
                    continue  # as it is before anybody sets it
                typed = setting.removeprefix(_BESIDE).removeprefix(_EVEN)
                name = f"ethtool {option} {nic.name} {typed}"
                if (setting, nic.text("driver")) in _MODES and value in _MODE_NUMBERS:
                    why = f"{value} stands for a rate that adapts, and not for microseconds"
                if setting == "hkey" and len(value) > _KEY_CHARACTERS:
                    said = f"the first 40 bytes of the key in {told.name}"
                    yield Told(name, value[:_KEY_CHARACTERS], said, "assumed")
                else:
                    yield Told(name, value, told.name, why=why)


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
    found = current_settings(text)
    for key, value in found.items():
        if key in {"RX", "TX", "Combined"} and value:
            beside = _BESIDE if found.get("Combined") and key != "Combined" else ""
            yield f"{beside}{key.lower()}", str(value)


def _hash(text: str) -> Iterator[tuple[str, str]]:
    """Yield to how many queues RSS sorts, if evenly to the first ones, and its key."""
    rows = [(int(first), row.split()) for first, row in _TABLE_ROW.findall(text)]
    table = {first + n: int(one) for first, row in rows for n, one in enumerate(row)}
    if table:
        queues = max(table.values()) + 1
        whole = len(table) == max(table) + 1
        if all(queue == place % queues for place, queue in table.items()):
            # as it is before anybody sets it: fewer channels may follow
            if queues != rings_of(text):
                yield "equal", str(queues)
        elif whole:
            blocks = queues == rings_of(text) and _in_blocks(table, queues)
            yield (
                _BLOCKS if blocks else "weight",
                " ".join(str(list(table.values()).count(queue)) for queue in range(queues)),
            )
    if key := _KEY.search(text):
        yield "hkey", key[1].lower()


def _begins_in_blocks(driver: str) -> bool:
    """Whether a driver gives each queue neighbouring entries of the table."""
    return bool(getattr(Nic.variants().get(driver), "rss_in_blocks", False))


def _in_blocks(table: dict[int, int], queues: int) -> bool:
    return all(queue == place * queues // len(table) for place, queue in table.items())


# igbvf_set_coalesce, e1000_set_coalesce: 1 and 3 are modes of InterruptThrottleRate
_MODES: Final = frozenset(("rx-usecs", driver) for driver in ("igbvf", "e1000", "e1000e"))
_MODE_NUMBERS: Final = ("1", "3", "4")
_BESIDE: Final = "beside "
_EVEN: Final = "even "
_BLOCKS: Final = f"{_EVEN}weight"
_WHY: Final = dict.fromkeys(
    (f"{_BESIDE}rx", f"{_BESIDE}tx"), "beside combined channels a port of the model has no others"
)
_OPTIONS: Final = {
    "ethtool -c": _coalesce,
    "ethtool -k": _features,
    "ethtool -a": _pause,
    "ethtool -l": _channels,
    "ethtool -x": _hash,
}


def _kind(option: str, start: str, line: str = "") -> Kind:
    typed = f"ethtool {option}".strip()
    line = f"{start}|{line}" if line else start
    return Kind(typed, start, line=line, command=f"{typed} {{port}}", folder="networking")


_NAMED: Final = r"{} (?P<interface>\S+):"
PARSER: Final = Parser(
    kinds=(
        # cpupower says the same of what sets clocks
        _kind("-i", r"driver: (?!\S*(?:cpufreq|pstate|cppc|pcc))"),
        _kind("-l", _NAMED.format("Channel parameters for")),
        _kind("-g", _NAMED.format("Ring parameters for")),
        _kind("-c", _NAMED.format("Coalesce parameters for"), r"Adaptive RX: "),
        _kind(
            "-k",
            _NAMED.format("(?:Features|Offload parameters) for"),
            r"(?:[rt]x-(?:checksumming|vlan-offload)|scatter-gather|tcp-segmentation-offload"
            r"|generic-receive-offload|large-receive-offload): o(?:n|ff)",
        ),
        _kind("-a", _NAMED.format("Pause parameters for")),
        _kind("-x", r"RX flow hash indirection table for (?P<interface>\S+) with"),
        _kind("", _NAMED.format("Settings for")),
    ),
    settings=_settings,
)
