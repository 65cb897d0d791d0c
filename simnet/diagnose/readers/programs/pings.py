"""Each run of ping: to whom, of which size, what was lost, and how long the way was.

Source: ping of iputils; networking/ping.c of BusyBox.
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_BEGINS: Final = re.compile(
    r"\s*PING (?P<to>\S{1,80}) \([^)\n]{1,60}\)(?: from [^:\n]{1,80})?:? (?P<size>\d{1,5})"
    r"(?:\(\d{1,5}\)| data) bytes.*"
)
_OF: Final = re.compile(r"\s*--- (?P<to>\S{1,80}) ping statistics ---\s*")
_LOST: Final = re.compile(
    r"\s*(?P<sent>\d{1,9}) packets transmitted, \d{1,9} (?:packets )?received.*?"
    r"(?P<lost>\d{1,3}(?:\.\d+)?)% packet loss.*"
)
_WAY: Final = re.compile(
    r"\s*(?:rtt|round-trip) min/avg/max(?:/\w+)? = (?P<least>[\d.]{1,12})/(?P<mean>[\d.]{1,12})"
    r"/(?P<most>[\d.]{1,12})\S* ms.*"
)

_REPLY: Final = re.compile(
    r"\s*\d{1,5} bytes from (?P<to>[^\s:]{1,80}).*\btime[=<](?P<ms>[\d.]{1,12}) ?ms\s*"
)
_FEWEST: Final = 3

OUTPUTS: Final = {"echo": "ping"}
SIGN: Final = re.compile(r"ping statistics ---|^\s*PING \S+ \(|bytes from \S+ (?:icmp_)?seq=")


def read(page: Page) -> Iterator[Fact]:
    """Yield loss in percent and mean in ms of each run, by target; the name is the size in bytes.

    A size that is not known is 56, as ping sends it. Replies whose summary is left out are a run.
    """
    yield from _runs(page)
    yield from _cut(page)


def _cut(page: Page) -> Iterator[Fact]:
    """Yield the mean of replies without a line of their mean behind them, by target."""
    found: dict[str, list[tuple[int, float]]] = {}
    for at, line in enumerate(page.lines, 1):
        if reply := _REPLY.fullmatch(line):
            found.setdefault(reply["to"], []).append((at, number(reply["ms"])))
        elif _WAY.fullmatch(line):
            found = {}
    for target, replies in found.items():
        if len(replies) >= _FEWEST:
            mean = sum(ms for _, ms in replies) / len(replies)
            text = f"{mean:.3f} ms"
            yield Fact("echo", target, "mean 56", mean, page.name, replies[-1][0], text)


def _runs(page: Page) -> Iterator[Fact]:
    """Yield what the summaries say."""
    target, size = "", "56"
    for at, line in enumerate(page.lines, 1):
        if begins := _BEGINS.fullmatch(line):
            target, size = begins["to"], begins["size"]
        elif of := _OF.fullmatch(line):
            size = size if of["to"] == target else "56"
            target = of["to"]
        elif target and (lost := _LOST.fullmatch(line)):
            text = f"{lost['lost']} %"
            yield Fact("echo", target, f"lost {size}", number(lost["lost"]), page.name, at, text)
        elif target and (way := _WAY.fullmatch(line)):
            text = f"{way['mean']} ms"
            yield Fact("echo", target, f"mean {size}", number(way["mean"]), page.name, at, text)
