"""mtr --report, and the errors of ping."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_HEAD: Final = re.compile(r"\s*HOST: .*\bLoss%.*|.*\bLoss% +Snt\b.*")
_HOP: Final = re.compile(
    r"\s*(?P<hop>\d{1,3})\.(?:\|--)? *(?P<host>\S{1,80})(?: +\(\S{1,60}\))? +"
    r"(?P<loss>\d{1,3}(?:[.,]\d+)?)%? +"
    r"(?P<sent>\d{1,9}) .*"
)
_TOO_LONG: Final = re.compile(
    r"[Mm]essage too long,? mtu ?[=:] ?(?P<own>\d{2,6})"
    r"|[Ff]rag(?:mentation)? needed(?: and DF set)? \(mtu ?= ?(?P<other>\d{2,6})\)"
    r"|Packet too big: mtu=(?P<six>\d{2,6})|(?P<windows>Packet needs to be fragmented but DF set)"
)

OUTPUTS: Final = {"hop": "mtr", "fits": "ping -M do"}
SIGN: Final = re.compile(r"Loss% +Snt|essage too long|[Ff]rag\w* needed|Packet too big|but DF set")


def read(page: Page) -> Iterator[Fact]:
    """Yield the loss to each hop in percent, and the MTU that a packet did not fit into."""
    listed = 0
    for at, line in enumerate(page.lines, 1):
        if _HEAD.fullmatch(line):
            listed += 1
        elif listed and (hop := _HOP.fullmatch(line)):
            subject = f"{hop['hop']} {hop['host']}"
            text = f"{hop['loss']} %"
            yield Fact("hop", f"trace {listed}", subject, number(hop["loss"]), page.name, at, text)
        elif found := _TOO_LONG.search(line):
            mtu = found["own"] or found["other"] or found["six"] or "0"
            yield Fact("fits", "", "mtu", number(mtu), page.name, at, line.strip()[:120])
