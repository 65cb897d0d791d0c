"""What captures and polling programs show and count: tcpdump, Suricata, DPDK's testpmd."""

import re
from collections import Counter
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
# what xdpsock says of an AF_XDP socket
_XSK: Final = re.compile(r"\b(?P<what>rx queue full|fill ring empty):? +(?P<n>\d{1,18})\b")
_PORT: Final = re.compile(r"\s*#+ *NIC statistics for port (?P<port>\d{1,4}) *#+")
_DPDK: Final = re.compile(r"\bRX-(?P<what>packets|missed|nombuf): *(?P<n>\d{1,18})")
# a segment as tcpdump prints it; the window of one that resets a connection means nothing
_SEGMENT: Final = re.compile(
    r"\bIP6? (?P<sender>\S{1,80}) > \S{1,80}: Flags \[[^\]R]{1,9}\]"
    r".{0,200}?\bwin (?P<window>\d{1,10})\b"
)
_CALLED: Final = {
    "received by filter": "total",
    "dropped by kernel": "dropped",
    "packets": "total",
    "drops": "dropped",
}

OUTPUTS: Final = {"segments": "tcpdump"}
SIGN: Final = re.compile(
    r"packets? dropped by kernel|capture\.kernel_|NIC statistics for port \d|: Flags \["
    r"|rx queue full"
)


def read(page: Page) -> Iterator[Fact]:
    """Yield packets of a capture, `total` and `dropped`; of a port that DPDK polls its counters.

    Of segments that a capture lists: how many each end has sent, and how many closed its window.
    """
    port = ""
    closed: dict[str, list[int]] = {}
    sent: Counter[str] = Counter()
    for at, line in enumerate(page.lines, 1):
        if found := _TCPDUMP.match(line) or _SURICATA.fullmatch(line):
            name = _CALLED[found["what"]]
            yield Fact("packet socket", page.name, name, number(found["n"]), page.name, at)
        elif found := _PORT.fullmatch(line):
            port = f"port {found['port']}"
        elif "queue full" in line or "fill ring" in line:
            for one in _XSK.finditer(line):
                yield Fact("xsk", "", one["what"], number(one["n"]), page.name, at)
        elif found := _SEGMENT.search(line):
            sent[found["sender"]] += 1
            if number(found["window"]) == 0:
                closed.setdefault(found["sender"], []).append(at)
        elif port:
            for one in _DPDK.finditer(line):
                yield Fact("dpdk", port, one["what"], number(one["n"]), page.name, at)
    for end, lines in closed.items():
        yield Fact("segments", end, "sent", float(sent[end]), page.name, lines[0])
        yield Fact("segments", end, "win 0", float(len(lines)), page.name, lines[0])
