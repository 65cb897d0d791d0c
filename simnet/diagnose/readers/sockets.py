"""Sockets as ss, netstat -an and /proc/net/udp list them, and /proc/net/sockstat."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_SS: Final = re.compile(
    r"\s*(?:(?P<kind>tcp|udp|raw|u_str)\s+)?(?P<state>LISTEN|ESTAB|UNCONN|CLOSE-WAIT|TIME-WAIT)\s+"
    r"(?P<rx>\d+)\s+(?P<tx>\d+)\s+(?P<local>\S+?):(?P<port>\S+)\s"
)
_NETSTAT: Final = re.compile(
    r"\s*(?P<kind>tcp6?|udp6?)\s+(?P<rx>\d+)\s+(?P<tx>\d+)\s+(?P<local>\S+):(?P<port>\S+)\s+\S+"
    r"(?:\s+(?P<state>[A-Z_]+))?"
)
_MEMORY: Final = re.compile(r"skmem:\((?P<fields>[a-z0-9,]+)\)")
_FIELD: Final = re.compile(r"(rb|r|d|bl)(\d+)")
_LIMITED: Final = re.compile(
    r"\b(?P<what>rwnd|sndbuf)_limited:\d{1,12}ms\((?P<share>[\d.]{1,6})%\)"
)
_BUSY: Final = re.compile(r"\bbusy:(?P<ms>\d{1,12})ms")
_INSIDE: Final = re.compile(
    r"\b(?P<name>bytes_retrans|bytes_sent|data_segs_out|lost|cwnd):(?P<value>\d{1,18})\b"
    r"|\bretrans:\d{1,9}/(?P<again>\d{1,12})\b"
)
_TRIPS: Final = re.compile(r"\brtt:(?P<now>[\d.]{1,12})/.*\bminrtt:(?P<least>[\d.]{1,12})\b")
_SUMMARY: Final = re.compile(
    r"TCP:\s+\d+ \(estab (\d+), closed \d+, orphaned (\d+),.*timewait (\d+)"
)

# a row of /proc/net/udp: the port in hex, what waits, and last what was dropped
_PROC_UDP: Final = re.compile(
    r"\s*\d+: [0-9A-F]{8,32}:(?P<port>[0-9A-F]{4}) [0-9A-F]{8,32}:[0-9A-F]{4} [0-9A-F]{2}"
    r" [0-9A-F]{8}:(?P<rx>[0-9A-F]{8}) .* (?P<drops>\d{1,18})\s*"
)
_SOCKSTAT: Final = re.compile(r"\s*(?P<kind>TCP|UDP): inuse \d+ .*\bmem (?P<pages>\d{1,18})\b.*")

OUTPUTS: Final = {"socket": "ss", "tcp": "ss -i"}
SIGN: Final = re.compile(
    r"(?m)\bcwnd:\d|^\s*(?:tcp|udp)6?\s|^(?:LISTEN|ESTAB|UNCONN)\s|skmem:|^TCP:\s+\d"
    r"|inode +ref +pointer +drops|^\s*(?:TCP|UDP): inuse \d"
)


def read(page: Page) -> Iterator[Fact]:
    """Yield queues, drops and buffers of sockets."""
    subject = ""
    for at, line in enumerate(page.lines, 1):
        row = _SS.match(line) or _NETSTAT.match(line)
        if row:
            kind, state = row["kind"] or "", (row["state"] or "").upper()
            subject = f"{kind or _guess(state)} port {row['port']}".strip()
            listening = state == "LISTEN"
            for name, value in (("recv-q", row["rx"]), ("send-q", row["tx"])):
                called = f"listen {name}" if listening else name
                yield Fact("socket", subject, called, number(value), page.name, at)
        if memory := _MEMORY.search(line):
            for name, value in _FIELD.findall(memory["fields"]):
                called = {"r": "queued", "rb": "rcvbuf", "d": "drops", "bl": "backlog"}[name]
                yield Fact("socket", subject, called, number(value), page.name, at)
        if "rtt:" in line or "cwnd:" in line:
            yield from _inside(page, at, subject, line)
        if proc := _PROC_UDP.fullmatch(line):
            of = f"udp port {int(proc['port'], 16)}"
            yield Fact("socket", of, "recv-q", float(int(proc["rx"], 16)), page.name, at)
            yield Fact("socket", of, "drops", number(proc["drops"]), page.name, at)
        if pages := _SOCKSTAT.fullmatch(line):
            name = f"{pages['kind'].lower()} mem"
            yield Fact("sockets", "", name, number(pages["pages"]), page.name, at)
        if totals := _SUMMARY.match(line):
            for name, value in zip(("estab", "orphaned", "timewait"), totals.groups(), strict=True):
                yield Fact("sockets", "", name, number(value), page.name, at)


def _inside(page: Page, at: int, subject: str, line: str) -> Iterator[Fact]:
    """Yield what `ss -i` says of a connection: shares in percent of the time that it was busy."""
    for found in _LIMITED.finditer(line):
        text = f"{found['share']} %"
        name = f"{found['what']}_limited"
        yield Fact("tcp", subject, name, number(found["share"]), page.name, at, text)
    if busy := _BUSY.search(line):
        yield Fact("tcp", subject, "busy", number(busy["ms"]), page.name, at)
    if trips := _TRIPS.search(line):
        for name, value in (("rtt", trips["now"]), ("minrtt", trips["least"])):
            yield Fact("tcp", subject, name, number(value), page.name, at, f"{value} ms")
    for inside in _INSIDE.finditer(line):
        name = inside["name"] or "retrans"
        value = number(inside["value"] or inside["again"])
        yield Fact("tcp", subject, name, value, page.name, at)


def _guess(state: str) -> str:
    return "udp" if state == "UNCONN" else "tcp"
