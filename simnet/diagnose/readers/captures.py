"""What captures and polling programs count: tcpdump, Suricata, Snort, DPDK's testpmd."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_TCPDUMP: Final = re.compile(
    r"(?P<n>\d{1,18}) packets? (?P<what>received by filter|dropped by kernel)"
)
_SURICATA: Final = re.compile(
    r"\s*capture\.kernel_(?P<what>packets|drops)\s*\|\s*[\w#-]+\s*\|\s*(?P<n>\d{1,18})\s*"
)
_PORT: Final = re.compile(r"\s*#+ *NIC statistics for port (?P<port>\d{1,4}) *#+")
_DPDK: Final = re.compile(r"\bRX-(?P<what>packets|missed|nombuf): *(?P<n>\d{1,18})")
_CALLED: Final = {
    "received by filter": "total",
    "dropped by kernel": "dropped",
    "packets": "total",
    "drops": "dropped",
}

SIGN: Final = re.compile(r"packets? dropped by kernel|capture\.kernel_|NIC statistics for port \d")


def read(page: Page) -> Iterator[Fact]:
    """Yield packets of a capture, `total` and `dropped`; of a port that DPDK polls its counters."""
    port = ""
    for at, line in enumerate(page.lines, 1):
        if found := _TCPDUMP.match(line) or _SURICATA.fullmatch(line):
            name = _CALLED[found["what"]]
            yield Fact("packet socket", page.name, name, number(found["n"]), page.name, at)
        elif found := _PORT.fullmatch(line):
            port = f"port {found['port']}"
        elif port:
            for one in _DPDK.finditer(line):
                yield Fact("dpdk", port, one["what"], number(one["n"]), page.name, at)
