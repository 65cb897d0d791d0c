"""Counters and addresses of ports, of the kernel: ip, ifconfig, netstat -i, /proc/net/dev."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_IP: Final = re.compile(r"\d+: (?P<port>[^\s:@]{1,15})(?:@\S+)?: <(?P<flags>[A-Z0-9_,-]*)>(.*)")
_OLD: Final = re.compile(r"(?P<port>[A-Za-z][\w.:-]{0,14})\s+Link encap:")
_NEW: Final = re.compile(r"(?P<port>[A-Za-z][\w.:-]{0,14}): flags=\d+<(?P<flags>[A-Z,]*)>\s+mtu")
_COUNTS: Final = re.compile(r"\s*(?P<side>[RT]X) (?:packets|errors)[: ]\d")
_PAIR: Final = re.compile(r"(packets|errors|dropped|overruns|frame|carrier|collisions)[: ]\s*(\d+)")
_COLLISIONS: Final = re.compile(r"\s*collisions:(\d+)")
_HEAD: Final = re.compile(r"\s+(?P<side>[RT]X)(?: errors)?:\s+(?P<names>[a-z_]+(?:\s+[a-z_]+)+)")
_INET: Final = re.compile(r"\s+inet (?:addr:)?(?P<address>\d+\.\d+\.\d+\.\d+)(?P<rest>.*)")
_MASK: Final = re.compile(r"^/(\d+)|(?:netmask|Mask:)\s*(\d+\.\d+\.\d+\.\d+)")
_TABLE: Final = re.compile(r"\s*Iface\s+MTU\s+.*RX-OK")
_DEV: Final = re.compile(r"\s*(?P<port>[^\s:|]{1,15}):\s*(\d+(?:\s+\d+){15})\s*$")
_DEV_NAMES: Final = (
    *("rx_bytes", "rx_packets", "rx_errors", "rx_dropped", "rx_overruns", "rx_frame", "", ""),
    *("tx_bytes", "tx_packets", "tx_errors", "tx_dropped", "tx_overruns", "collisions"),
    *("tx_carrier", ""),
)
_NETSTAT: Final = {
    "RX-OK": "rx_packets",
    "RX-ERR": "rx_errors",
    "RX-DRP": "rx_dropped",
    "RX-OVR": "rx_overruns",
    "TX-OK": "tx_packets",
    "TX-ERR": "tx_errors",
    "TX-DRP": "tx_dropped",
    "TX-OVR": "tx_overruns",
}

# what Prometheus' node exporter makes of /proc/net/dev
_EXPORTED: Final = re.compile(
    r"node_network_(?P<side>receive|transmit)_(?P<name>packets|drop|errs|fifo|frame|colls|carrier)"
    r'(?:_total)?\{[^}\n]{0,200}\bdevice="(?P<port>[^"\s]{1,15})"[^}\n]{0,200}\}'
    r"\s+(?P<value>[\d.]+(?:e\+\d{1,2})?)\s*"
)
_OF_EXPORTER: Final = {
    "drop": "dropped", "errs": "errors", "fifo": "overruns", "colls": "collisions",
}  # fmt: skip

OUTPUTS: Final = {"link": "counters of ports", "addr": "addresses"}
SIGN: Final = re.compile(
    r"(?m)^\d+: \S+: <|Link encap:|"
    r": flags=\d|RX-OK|^node_network_|^\s*[^\s:]+:\s*\d+(?:\s+\d+){15}\s*$|^\s*[RT]X packets"
)


def read(page: Page) -> Iterator[Fact]:  # noqa: C901, PLR0912 - a case a form of line
    """Yield counters, flags and addresses of ports."""
    port, columns, table, side = "", list[str](), list[str](), ""
    for at, line in enumerate(page.lines, 1):
        if head := (_IP.match(line) or _NEW.match(line)):
            port, flags = head["port"], head["flags"]
            yield Fact("addr", port, "flags", 0, page.name, at, flags)
            yield from _settings(page, at, port, line)
        elif old := _OLD.match(line):
            port = old["port"]
        elif re.match(r"\s+(?:UP|BROADCAST).*\bMTU:\d+", line):
            yield Fact("addr", port, "flags", 0, page.name, at, ",".join(line.split()))
            yield from _settings(page, at, port, line)
        elif counts := _COUNTS.match(line):
            side = counts["side"].lower()
            for name, value in _PAIR.findall(line):
                called = name if name == "collisions" else f"{side}_{name}"
                yield Fact("link", port, called, float(value), page.name, at)
        elif alone := _COLLISIONS.match(line):
            yield Fact("link", port, "collisions", float(alone[1]), page.name, at)
        elif inet := _INET.match(line):
            yield Fact("addr", port, "inet", 0, page.name, at, _with_mask(inet))
        elif titles := _HEAD.match(line):
            side, columns = titles["side"].lower(), titles["names"].split()
        elif columns and re.fullmatch(r"\s*(?:\d+\s+)+\d+\s*", line):
            for name, value in zip(columns, line.split(), strict=False):
                called = "rx_overruns" if name == "overrun" else f"{side}_{name}"
                yield Fact("link", port, called, float(value), page.name, at)
            columns = []
        elif exported := _EXPORTED.fullmatch(line):
            side = {"receive": "rx", "transmit": "tx"}[exported["side"]]
            name = _OF_EXPORTER.get(exported["name"], exported["name"])
            called = name if name == "collisions" else f"{side}_{name}"
            value = float(exported["value"])
            yield Fact("link", exported["port"], called, value, page.name, at)
        elif _TABLE.match(line):
            table = line.split()
        elif table and len(cells := line.split()) in {len(table), len(table) - 1}:
            yield from _row(page, at, table, cells)
        elif dev := _DEV.match(line):
            for name, value in zip(_DEV_NAMES, dev[2].split(), strict=True):
                if name:
                    yield Fact("link", dev["port"], name, float(value), page.name, at)
        else:
            columns, table = [], []


def _settings(page: Page, at: int, port: str, line: str) -> Iterator[Fact]:
    for name, pattern in (("mtu", r"mtu[ :](\d+)"), ("qlen", r"(?:qlen|txqueuelen)[ :](\d+)")):
        if found := re.search(pattern, line, re.IGNORECASE):
            yield Fact("addr", port, name, number(found[1]), page.name, at)
    if found := re.search(r"\bxdp(?:generic|drv|offload|multi)?(?=/id:| )", line):
        yield Fact("addr", port, "xdp", 0, page.name, at, found[0])
    if found := re.search(r"\b(?:master|link-netns(?:id)?) (\S+)", line):
        yield Fact("addr", port, "master", 0, page.name, at, found[1])


def _with_mask(inet: re.Match[str]) -> str:
    """Return an address with the length of its mask."""
    found = _MASK.search(inet["rest"].strip())
    length = 32
    if found and found[1]:
        length = int(found[1][:3])
    elif found and found[2]:
        length = sum(min(int(part[:3]), 255).bit_count() for part in found[2].split("."))
    return f"{inet['address']}/{min(length, 32)}"


def _row(page: Page, at: int, table: list[str], cells: list[str]) -> Iterator[Fact]:
    """Yield a row of netstat -i; the last column may be empty."""
    port = cells[0]
    for title, cell in zip(table, cells, strict=False):
        if title in _NETSTAT and cell.isdecimal():
            yield Fact("link", port, _NETSTAT[title], number(cell), page.name, at)
        elif title == "MTU" and cell.isdecimal():
            yield Fact("addr", port, "mtu", number(cell), page.name, at)
    if table[-1] == "Flg" and len(cells) == len(table):
        flags = [
            name
            for letter, name in (("U", "UP"), ("R", "RUNNING"), ("L", "LOOPBACK"))
            if letter in cells[-1]
        ]
        if "RUNNING" not in flags:
            flags.append("NO-CARRIER")
        yield Fact("addr", port, "flags", 0, page.name, at, ",".join(flags))
