"""What load generators print: iperf, iperf3, netperf, ping, fio, and its job files; iostat -x."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_IPERF: Final = re.compile(
    r"\s*\[\s*(?P<id>\d+|SUM)\]\s+(?P<from>[\d.]+)-\s*(?P<to>[\d.]+)\s+sec\s+[\d.]+ \w+\s+"
    r"(?P<rate>[\d.]+) (?P<unit>[KMG]?)bits/sec(?P<rest>.*)"
)
_LOST: Final = re.compile(r"(?P<lost>\d+)/\s*(?P<sent>\d+) \((?P<share>[\d.e+-]+)%\)")
_RETRIES: Final = re.compile(r"\s+(?P<n>\d+)\s+sender")
_NETPERF: Final = re.compile(r"\s*\d+\s+\d+\s+\d+\s+[\d.]+\s+(?P<rate>\d+\.\d+)\s*")
# what UDP_STREAM sent, and below what of it arrived
_UDP_SENT: Final = re.compile(r"\s*\d+\s+\d+\s+[\d.]+\s+(?P<n>\d{1,18})\s+\d+\s+[\d.]+\s*")
_UDP_GOT: Final = re.compile(r"\s*\d+\s+[\d.]+\s+(?P<n>\d{1,18})\s+(?P<rate>[\d.]{1,18})\s*")
_PING: Final = re.compile(
    r"(?P<sent>\d+) packets transmitted, (?P<got>\d+) (?:packets )?received.*?(?P<lost>[\d.]+)%"
)
_RTT: Final = re.compile(
    r"(?:rtt|round-trip) min/avg/max(?:/\w+)? = [\d.]{1,12}/(?P<mean>[\d.]{1,12})/[\d./]{1,40} ms"
)
_WINDOW: Final = re.compile(
    r"\s+(?P<again>\d{1,9})\s+(?P<size>[\d.]{1,9}) (?P<unit>[KMG]?)Bytes\s*"
)
_JOB: Final = re.compile(r"\s*-{0,2}([a-z_]+)\s*=\s*(\S+?),?\s*")
_JOB_NAMES: Final = frozenset(
    {"iodepth", "numjobs", "ioengine", "filename", "direct", "numa_cpu_nodes", "rw", "hipri", "bs"}
)
_UNIT: Final = {"": 1e-6, "K": 1e-3, "M": 1.0, "G": 1e3}
_SHORTEST_S: Final = 2.5

OUTPUTS: Final = {"test": "tests", "interval": "iperf3", "disk": "iostat -x"}
SIGN: Final = re.compile(r"bits/sec|10\^6bits|packets transmitted|min/avg/max|iodepth|%util")


def read(page: Page) -> Iterator[Fact]:  # noqa: C901, PLR0912 - a case a form of line
    """Yield rates in Mbit/s, losses, settings of jobs, and how busy disks are."""
    disk: list[str] = []
    netperf = "10^6bits" in page.text
    job = "iodepth" in page.text
    sent = 0.0
    for at, line in enumerate(page.lines, 1):
        if iperf := _IPERF.match(line):
            yield from _interval(page, at, iperf)
            yield from _iperf(page, at, iperf)
        elif way := _RTT.search(line):
            text = f"{way['mean']} ms"
            yield Fact("ping", page.name, "rtt", number(way["mean"]), page.name, at, text)
        elif netperf and (udp := _UDP_SENT.fullmatch(line)):
            sent = number(udp["n"])
        elif sent and (got := _UDP_GOT.fullmatch(line)):
            share = max(100 * (1 - number(got["n"]) / sent), 0.0)
            rate = number(got["rate"])
            yield Fact("test", page.name, "rate", rate, page.name, at, f"{rate:,.6g} Mbit/s")
            yield Fact("test", page.name, "lost", share, page.name, at, f"{share:.3g} %")
            sent = 0.0
        elif netperf and (found := _NETPERF.fullmatch(line)):
            yield Fact("test", page.name, "rate", number(found["rate"]), page.name, at)
        elif ping := _PING.search(line):
            for name in ("sent", "got", "lost"):
                yield Fact("ping", page.name, name, number(ping[name]), page.name, at)
        elif job and (setting := _JOB.fullmatch(line)) and setting[1] in _JOB_NAMES:
            name, text = setting[1], setting[2]
            yield Fact("fio", page.name, name, number(text), page.name, at, text)
        elif line.startswith("Device") and "%util" in line:
            disk = line.replace(":", " ").split()
        elif disk and len(cells := line.split()) == len(disk):
            for name, text in zip(disk[1:], cells[1:], strict=True):
                yield Fact("disk", cells[0], name, number(text), page.name, at, text)
        else:
            disk = []


def _interval(page: Page, at: int, iperf: re.Match[str]) -> Iterator[Fact]:
    """Yield rate, losses and window of an interval between reports."""
    window = _WINDOW.match(iperf["rest"])
    if window is None:
        return
    rate = number(iperf["rate"]) * _UNIT[iperf["unit"]]
    subject = f"{page.name} {iperf['id']}"
    unit = f"{window['unit']}Bytes"
    text = f"{window['size']} {unit}"
    yield Fact("interval", subject, f"cwnd {unit}", number(window["size"]), page.name, at, text)
    yield Fact("interval", subject, "rate", rate, page.name, at)
    yield Fact("interval", subject, "again", number(window["again"]), page.name, at)


def _iperf(page: Page, at: int, iperf: re.Match[str]) -> Iterator[Fact]:
    """Yield what a line says that is of a whole test: longer than an interval between reports."""
    if number(iperf["to"]) - number(iperf["from"]) < _SHORTEST_S:
        return
    rate = number(iperf["rate"]) * _UNIT[iperf["unit"]]
    yield Fact("test", page.name, "rate", rate, page.name, at, f"{rate:,.6g} Mbit/s")
    if lost := _LOST.search(iperf["rest"]):
        text = f"{lost['share']} %"
        yield Fact("test", page.name, "lost", number(lost["share"]), page.name, at, text)
    if tries := _RETRIES.match(iperf["rest"]):
        yield Fact("test", page.name, "retries", number(tries["n"]), page.name, at)
