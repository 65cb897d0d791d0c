"""ethtool -m: what an optic says of its light and of its heat."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_POWER: Final = re.compile(
    r"\s*(?P<name>Receiver signal average optical power|Rcvr signal avg optical power"
    r"(?:\(Channel \d\))?|Receiver signal OMA|Laser (?:tx|rx) power Channel \d)\s*:"
    r"\s*[\d.]+ mW / (?P<dbm>-?[\d.]+|-inf) dBm"
)
_ALARM: Final = re.compile(
    r"\s*(?P<name>(?:Laser|Module|Rx|Tx|Rcvr)[\w ()-]{0,60}(?:alarm"
    r"|warning)(?: \(Chan(?:nel)? \d\))?)"
    r"\s*:\s*(?P<state>On|Off)\s*"
)
# light that is not there
_DARK_DBM: Final = -40.0

OUTPUTS: Final = {"optic": "ethtool -m"}
SIGN: Final = re.compile(r" mW / |(?:Laser|Module)[\w ]+(?:alarm|warning)")


def read(page: Page) -> Iterator[Fact]:
    """Yield the power of light in dBm, and alarms: 1 if one is on."""
    for at, line in enumerate(page.lines, 1):
        port = page.port_at(at)
        if power := _POWER.match(line):
            dbm = _DARK_DBM if power["dbm"] == "-inf" else number(power["dbm"])
            text = f"{power['dbm']} dBm"
            yield Fact("optic", port, power["name"], dbm, page.name, at, text)
        elif alarm := _ALARM.fullmatch(line):
            on = float(alarm["state"] == "On")
            yield Fact("optic", port, alarm["name"], on, page.name, at, alarm["state"])
