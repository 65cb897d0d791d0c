"""Outputs of ethtool: counters, link, driver, offloads, coalescing, rings, channels, RSS, pause."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_LINE: Final = re.compile(r"\s*(?P<name>[A-Za-z#\[][^:\n]{0,60}?)(?::|\s=|\t)\s*(?P<value>\S.*)?$")
_COUNTER: Final = re.compile(
    r"(?:\[\d+\]:?\s*)?(?:rx|tx|port|veb|ch\d+|queue|q\d|bw|pps|conntrack|linklocal|outbound|rq|"
    r"[a-z]+)[\w.\-\[\] /]*"
)
_PER_QUEUE: Final = re.compile(
    r"^\s*\[?((?<=\[)\d+(?=\])|[rt]xq\d{1,4}|Queue\[\d+(?=\]))\]?:?\s*(\w+) *:"
)
# atlantic and others write InPackets
_CAPITAL: Final = re.compile(r"[A-Z][\w.\[\] ]{2,59}")
_STATISTICS: Final = re.compile(r"\bethtool\s+(?:-S|--statistics)\b")
_ASKED: Final = re.compile(r"\bethtool\s+-(?P<flag>[lga])\s")
_SECTIONS: Final = {"l": "channels", "g": "ring", "a": "pause"}
_SIGNIFICANT: Final = re.compile(
    r"[_.]|\bpkts [rt]x\b|^drv dropped|^(?:collisions|multicast|broadcast|suspend|resume)$"
)
_RATE: Final = re.compile(
    r"Ethtool\((?P<port>\S+)\s*\)\s*stat:\s*(?P<value>\d+)\s*\([\s\d,]*\)\s*<=\s*(?P<name>\S+)"
)
_QUEUE: Final = re.compile(r"\s*(?P<side>[RT]x) Queue#:\s*(?P<number>\d+)")
_INDIRECTION: Final = re.compile(r"\s*\d+:((?:\s+\d+){1,16})\s*$")
_RINGS: Final = re.compile(r"RX flow hash indirection table for (?P<port>\S+) with (?P<n>\d+) RX")
_COALESCE: Final = re.compile(
    r"(?:rx|tx)-(?:usecs|frames?)(?:-irq|-low|-high)?|stats-block-usecs|sample-interval"
    r"|pkt-rate-(?:low|high)"
)
_ADAPTIVE: Final = re.compile(r"Adaptive RX: (?P<rx>\S+)\s+TX: (?P<tx>\S+)")
_COLUMNS: Final = frozenset({"RX", "TX", "Other", "Combined", "RX Mini", "RX Jumbo"})
_DRIVER: Final = frozenset({"driver", "version", "firmware-version", "bus-info"})
_FEC: Final = frozenset({"Active FEC encoding", "Active FEC encodings"})
_LINK: Final = frozenset({"Speed", "Duplex", "Port", "Auto-negotiation", "Link detected"}) | _FEC
_MODES: Final = re.compile(r"\b(\d+)base\S+/(Full|Half)")
_SPEED: Final = re.compile(r"(\d+)\s*([MG])b/s")
_OFFLOADS: Final = re.compile(
    r"(?:[rt]x|scatter-gather|(?:tcp|udp|generic|large)-[\w-]+|rx-\w[\w-]+|tx-\w[\w-]+|ntuple-\w+"
    r"|receive-hashing|highdma|hw-tc-offload|loopback|rxhash|rx-gro-\w+)"
)

OUTPUTS: Final = {
    "stat": "ethtool -S",
    "rate": "ethtool_stats.pl",
    "phy": "ethtool",
    "driver": "ethtool -i",
    "offload": "ethtool -k",
    "coalesce": "ethtool -c",
    "ring": "ethtool -g",
    "channels": "ethtool -l",
    "rss": "ethtool -x",
    "pause": "ethtool -a",
}
SIGN: Final = re.compile(
    r"(?m)^\s*(?:\[\d+\]:?\s*)?\S.{0,60}:\s|^\s*[rt]x_\w+\s|Ethtool\(|^\s*[rt]x-usecs"
)


def read(page: Page) -> Iterator[Fact]:
    """Yield what the lines say; each is known by itself, headings only say of which port."""
    section = queue = modes = ""
    for at, line in enumerate(page.lines, 1):
        if rate := _RATE.search(line):
            value = float(rate["value"])
            yield Fact("rate", rate["port"], rate["name"], value, page.name, at)
            continue
        if head := _RINGS.search(line):
            yield Fact("rss", head["port"], "rings", float(head["n"]), page.name, at)
            section = "rss"
            continue
        if section == "rss" and (row := _INDIRECTION.match(line)):
            for ring in dict.fromkeys(row[1].split()):
                yield Fact("rss", page.port_at(at), f"ring {ring}", float(ring), page.name, at)
            continue
        section = _section(line, section)
        if of := _QUEUE.match(line):
            queue = f"{of['side'].lower()}{of['number']} "
            continue
        if line.strip() == "NIC statistics:":
            queue = ""
        if adaptive := _ADAPTIVE.search(line):
            for side in ("rx", "tx"):
                name, text = f"adaptive-{side}", adaptive[side]
                yield Fact("coalesce", page.port_at(at), name, 0, page.name, at, text)
            continue
        if "base" in line and (found := _MODES.findall(line)):
            named = re.match(r"\s*(Supported|Advertised|Link partner)", line)
            modes = named[1] if named else modes
            fastest = max(float(speed) for speed, _ in found)
            yield Fact("phy", page.port_at(at), f"{modes} modes", fastest, page.name, at)
            continue
        if found_line := _LINE.match(_PER_QUEUE.sub(r"\2[\1]:", line)):
            name, text = found_line["name"].strip(), (found_line["value"] or "").strip()
            yield from _pair(page, at, section, queue, name, text)


def _section(line: str, before: str) -> str:
    """Return in which part of an output a line stands, for names that several parts have."""
    if "ethtool" in line:
        if _STATISTICS.search(line):
            return "stat"
        if asked := _ASKED.search(line):  # the heading may have been cut
            return _SECTIONS[asked["flag"]]
    for start, section in (
        ("Ring parameters", "ring"),
        ("Channel parameters", "channels"),
        ("Pause parameters", "pause"),
        ("Coalesce parameters", "coalesce"),
        ("Features for", "offload"),
        ("Offload parameters", "offload"),
        ("NIC statistics", "stat"),
        ("Settings for", "phy"),
    ):
        if line.startswith(start):
            return section
    base = before.removesuffix(" most")
    if line.startswith("Pre-set maximums"):
        return f"{base} most"
    if line.startswith("Current hardware settings"):
        return base
    return before


def _pair(page: Page, at: int, section: str, queue: str, name: str, value: str) -> Iterator[Fact]:
    port = page.port_at(at)
    plain = re.fullmatch(r"-?\d{1,20}", value)

    def fact(kind: str, called: str, text: str = "") -> Fact:
        return Fact(kind, port, called, number(value), page.name, at, text)

    if name in _COLUMNS and plain:
        base = section.removesuffix(" most")
        if base in {"ring", "channels"}:
            most = " most" if section.endswith(" most") else ""
            yield fact(base, f"{name.lower()}{most}")
    elif _COALESCE.fullmatch(name):
        if plain:
            yield fact("coalesce", name.replace("frame-", "frames-"))
    elif name in _DRIVER:
        yield fact("driver", name, value)
    elif name in _LINK:
        if name == "Speed" and (speed := _SPEED.match(value)):
            mbit = float(speed[1]) * (1000 if speed[2] == "G" else 1)
            yield Fact("phy", port, name, mbit, page.name, at, value)
        else:
            yield fact("phy", name, value)
    elif section == "pause" and name in {"RX", "TX", "Autonegotiate"}:
        yield fact("pause", name.lower(), value)
    elif value.partition(" ")[0] in {"on", "off"} and _OFFLOADS.match(name):
        yield fact("offload", name, value)
    elif plain and len(value) < 20 and _is_counter(name, section, queue):  # noqa: PLR2004
        yield fact("stat", queue + name)


def _is_counter(name: str, section: str, queue: str) -> bool:
    if queue:
        return True
    if not _COUNTER.fullmatch(name):
        return section == "stat" and bool(_CAPITAL.fullmatch(name))
    return section == "stat" or bool(_SIGNIFICANT.search(name))
