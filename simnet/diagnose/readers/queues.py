"""tc -s qdisc, and the throttling of control groups."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_QDISC: Final = re.compile(r"\s*(?:qdisc|class) (?P<kind>\S+) (?P<handle>\S+).*?\bdev (?P<dev>\S+)")
_NO_DEV: Final = re.compile(r"\s*(?:qdisc|class) (?P<kind>\S+) (?P<handle>\S+)")
_TYPED: Final = re.compile(
    r"\btc\s+(?:-\S+\s+)*\w+\s+(?:\w+\s+)?dev\s+(?P<dev>[A-Za-z][\w.@-]{0,14})"
)
_POLICE: Final = re.compile(r"\s*(?:action order \d+:\s+)?police (?P<handle>0x[0-9a-f]+) rate ")
# of fq: packets of flows that had as many as one may have
_PLIMIT: Final = re.compile(r".*\bflows_plimit (?P<packets>\d+)")
_SENT: Final = re.compile(
    r"\s*Sent \d+ bytes (?P<sent>\d+) pkts? \(dropped (?P<dropped>\d+), overlimits (?P<over>\d+)"
    r"(?: requeues (?P<requeues>\d+))?"
)
_WAITING: Final = re.compile(r"\s*backlog \d+[KMG]?b (?P<packets>\d+)p\b")
_NETEM: Final = re.compile(r"\b(?P<what>loss|delay|corrupt) (?P<value>[\d.]+\S*)")
_BUCKET: Final = re.compile(
    r".*\brate (?P<rate>[\d.]{1,12})(?P<unit>[KMG]?)bit"
    r" burst (?P<burst>[\d.]{1,12})(?P<size>[KM]?)b\b.*"
)
_TIMES: Final = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}
_SIZES: Final = {"": 1, "K": 1 << 10, "M": 1 << 20}
_CGROUP: Final = re.compile(
    r"\s*(?:cpu\.stat:)?(nr_periods|nr_throttled|throttled_(?:usec|time)) (\d+)"
)

OUTPUTS: Final = {"qdisc": "tc -s qdisc", "cgroup": "cpu.stat"}
SIGN: Final = re.compile(r"qdisc |Sent \d+ bytes|nr_throttled")


def read(page: Page) -> Iterator[Fact]:
    """Yield counters of queues and of control groups."""
    subject = ""
    typed = _device(page.name, "")
    for at, line in enumerate(page.lines, 1):
        typed = _device(line, typed)
        if police := _POLICE.match(line):
            subject = f"{typed} police {police['handle']}".strip()
        elif head := (_QDISC.match(line) or _NO_DEV.match(line)):
            dev = head.groupdict().get("dev") or typed
            subject = f"{dev} {head['kind']} {head['handle']}".strip()
            if head["kind"] == "tbf" and (bucket := _BUCKET.match(line)):
                yield from _bucket(page, at, subject, bucket)
            if head["kind"] == "netem":
                yield from _netem(page, at, dev, line)
        elif sent := _SENT.match(line):
            for name in ("sent", "dropped", "over", "requeues"):
                if sent[name]:
                    yield Fact("qdisc", subject, name, number(sent[name]), page.name, at)
        elif subject and (waiting := _WAITING.match(line)):
            packets = waiting["packets"]
            yield Fact("qdisc", subject, "waiting", number(packets), page.name, at)
        elif subject and (limited := _PLIMIT.match(line)):
            packets = limited["packets"]
            yield Fact("qdisc", subject, "flows_plimit", number(packets), page.name, at)
        elif group := _CGROUP.fullmatch(line):
            yield Fact(
                "cgroup", page.name.rpartition("/")[0], group[1], number(group[2]), page.name, at
            )


def _bucket(page: Page, at: int, subject: str, found: re.Match[str]) -> Iterator[Fact]:
    """Yield for how long the bucket lasts at its rate, in ms."""
    rate = number(found["rate"]) * _TIMES[found["unit"]]
    size = number(found["burst"]) * _SIZES[found["size"]]
    if rate:
        text = f"rate {found['rate']}{found['unit']}bit burst {found['burst']}{found['size']}b"
        yield Fact("qdisc", subject, "bucket", 8e3 * size / rate, page.name, at, text)


def _netem(page: Page, at: int, dev: str, line: str) -> Iterator[Fact]:
    for what in _NETEM.finditer(line):
        text = what["value"]
        yield Fact("netem", dev, what["what"], number(text.rstrip("ms%u")), page.name, at, text)


def _device(text: str, before: str) -> str:
    """Return the device that a command of tc is about; the one before where there is none."""
    found = _TYPED.search(text) if "tc" in text else None
    return found["dev"] if found else before
