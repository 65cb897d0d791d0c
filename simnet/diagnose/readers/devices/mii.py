"""mii-tool: how a copper port of 10 to 1000 Mbit/s came to its speed.

Source: man mii-tool.
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page

_NOW: Final = re.compile(
    r"\s*(?P<port>[A-Za-z][\w.-]{0,14}): (?:negotiated |autonegotiation \S+, )?"
    r"(?:(?P<speed>10{1,3})base\S{1,3}-(?P<duplex>[FH])D\b"
    r"|(?P<mbit>10{1,3}) Mbit, (?P<half>half|full) duplex)"
    r"(?:,? [\w-]+)*, link ok\s*"
)
_MODES: Final = re.compile(
    r"\s+(?P<who>capabilities|advertising|link partner): +(?P<modes>.*10\S*base.*)"
)
_MODE: Final = re.compile(r"\b(10{1,3})base")
_WHO: Final = {
    "capabilities": "Supported", "advertising": "Advertised", "link partner": "Link partner",
}  # fmt: skip

SIGN: Final = re.compile(r"(?m)base\S{1,3}-[FH]D\b|\bMbit, (?:half|full) duplex")


def read(page: Page) -> Iterator[Fact]:
    """Yield the facts that `ethtool PORT` tells of a link, by the same names."""
    port = ""
    for at, line in enumerate(page.lines, 1):
        if now := _NOW.fullmatch(line):
            port = now["port"]
            speed = now["speed"] or now["mbit"]
            half = now["duplex"] == "H" or now["half"] == "half"
            yield Fact("phy", port, "Speed", float(speed), page.name, at, f"{speed}Mb/s")
            yield Fact("phy", port, "Duplex", 0, page.name, at, "Half" if half else "Full")
        elif port and (modes := _MODES.fullmatch(line)):
            fastest = max((float(one) for one in _MODE.findall(modes["modes"])), default=0.0)
            name = f"{_WHO[modes['who']]} modes"
            yield Fact("phy", port, name, fastest, page.name, at)
