"""Sockets as ss and netstat -an list them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.diagnose.page import Page

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
_SUMMARY: Final = re.compile(
    r"TCP:\s+\d+ \(estab (\d+), closed \d+, orphaned (\d+),.*timewait (\d+)"
)

SIGN: Final = re.compile(r"(?m)^\s*(?:tcp|udp)6?\s|^(?:LISTEN|ESTAB|UNCONN)\s|skmem:|^TCP:\s+\d")


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
        if totals := _SUMMARY.match(line):
            for name, value in zip(("estab", "orphaned", "timewait"), totals.groups(), strict=True):
                yield Fact("sockets", "", name, number(value), page.name, at)


def _guess(state: str) -> str:
    return "udp" if state == "UNCONN" else "tcp"
