"""What a switch counts of its port: `show interface` of IOS, NX-OS, EOS and those like them."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_PORT: Final = re.compile(
    r"\s*(?P<port>(?:[A-Z][A-Za-z]{2,24}|Gi|Te|Fo|Hu|Eth)\d{1,3}(?:/\d{1,3}){0,3}) is (?:up"
    r"|down|administratively)\b"
)
_COUNT: Final = re.compile(
    r"(?P<n>\d{1,20}) (?P<name>packets input|input packets|packets output|output packets"
    r"|input errors?|CRC"
    r"|output errors?|input discards?|output discards?|overrun|no buffer|giants|late collisions?"
    r"|input with dribble|runts|pause (?:input|output)|(?:Rx|Tx) pause)\b"
)
_TOTAL: Final = re.compile(r"Total output drops: (?P<n>\d{1,20})")

OUTPUTS: Final = {"switch": "show interface of a switch"}
SIGN: Final = re.compile(
    r"line protocol is |input errors?,? .*CRC|Total output drops|input discards?"
)


def read(page: Page) -> Iterator[Fact]:
    """Yield the counters of each port, by their names; `output drops` are packets to the host."""
    port = ""
    for at, line in enumerate(page.lines, 1):
        if head := _PORT.match(line):
            port = head["port"]
        if total := _TOTAL.search(line):
            yield Fact("switch", port, "output drops", number(total["n"]), page.name, at)
        for one in _COUNT.finditer(line) if port else ():
            name = re.sub(r"s$", "", one["name"])
            name = {"packets input": "input packet", "packets output": "output packet"}.get(
                name, name
            )
            yield Fact("switch", port, name, number(one["n"]), page.name, at)
