"""What iperf3 -J prints of a whole test, and its line of CPU shares."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_START: Final = re.compile(r"(?m)^\s*\{")
_MOST: Final = 50
_CPU: Final = re.compile(
    r"CPU Utilization: (?P<here>local|remote)/(?:sender|receiver) (?P<one>[\d.]+)%.*?"
    r"(?:local|remote)/(?:sender|receiver) (?P<other>[\d.]+)%"
)

SIGN: Final = re.compile(r'"(?:cpu_utilization_percent|lost_percent|sum_sent)"|CPU Utilization: ')


def read(page: Page) -> Iterator[Fact]:
    """Yield rate, loss and segments sent again of each document, and percent of a CPU."""
    for at, line in enumerate(page.lines, 1):
        if cpu := _CPU.search(line):
            names = ("here", "there") if cpu["here"] == "local" else ("there", "here")
            for name, value in zip(names, (cpu["one"], cpu["other"]), strict=True):
                text = f"{value} %"
                yield Fact("test cpu", page.name, name, number(value), page.name, at, text)
    offset = 0
    for _ in range(_MOST):
        begin = _START.search(page.text, offset)
        if begin is None:
            return
        try:
            told, offset = json.JSONDecoder().raw_decode(page.text, begin.end() - 1)
        except (ValueError, RecursionError):
            offset = begin.end()
            continue
        end = told.get("end") if isinstance(told, dict) else None
        if isinstance(end, dict):
            yield from _facts(page, begin.start(), offset, end)


def _facts(page: Page, first: int, last: int, end: dict[str, Any]) -> Iterator[Fact]:
    def fact(
        kind: str, name: str, holder: str, key: str, unit: str, scale: float = 1
    ) -> Iterator[Fact]:
        group = end.get(holder)
        value = group.get(key) if isinstance(group, dict) else None
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e18:  # noqa: PLR2004 - no more is a number of it
            place = page.text.find(f'"{holder}"', first, last)
            place = max(page.text.find(f'"{key}"', max(place, first), last), first)
            text = f"{value * scale:,.6g} {unit}".strip()
            at = page.line_of(place)
            yield Fact(kind, page.name, name, value * scale, page.name, at, text)

    udp = isinstance(end.get("sum"), dict) and "lost_percent" in end["sum"]
    for holder in ("sum",) if udp else ("sum_received", "sum_sent"):
        rate = list(fact("test", "rate", holder, "bits_per_second", "Mbit/s", 1e-6))
        if rate:
            yield from rate
            break
    yield from fact("test", "lost", "sum", "lost_percent", "%")
    yield from fact("test", "retries", "sum_sent", "retransmits", "")
    yield from fact("test cpu", "here", "cpu_utilization_percent", "host_total", "%")
    yield from fact("test cpu", "there", "cpu_utilization_percent", "remote_total", "%")
