"""iw: how strong the signal of a wireless link is, how fast it is, and whether it sleeps.

Source: iw(8), `iw dev PORT link`; iwconfig(8).
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_ON: Final = re.compile(r"\s*Connected to [0-9a-fx:]{2,20} \(on (?P<port>[\w.-]{1,15})\).*")
_OLD: Final = re.compile(r"(?P<port>[A-Za-z][\w.-]{0,14}) +IEEE 802\.11.*")
_SIGNAL: Final = re.compile(r".*\b[Ss]ignal(?: level)?[:=] ?(?P<dbm>-\d{1,3}) dBm.*")
_RATE: Final = re.compile(r".*\b(?P<way>rx|tx) bitrate: (?P<rate>[\d.]{1,8}) MBit/s.*")
_SLEEPS: Final = re.compile(r"\s*Power (?:save|Management): ?(?P<sleeps>on|off)\s*", re.IGNORECASE)
_ASKED: Final = re.compile(r".*\b(?:iw dev|iwconfig) (?P<port>[A-Za-z][\w.-]{0,14})\b.*")

OUTPUTS: Final = {"wifi": "iw dev PORT link"}
SIGN: Final = re.compile(
    r"[Ss]ignal(?: level)?[:=] ?-\d+ dBm|Power save: o|Power Management:o", re.IGNORECASE
)


def read(page: Page) -> Iterator[Fact]:
    """Yield the signal in dBm, the rates in Mbit/s and `sleeps` of each port."""
    port = ""
    for at, line in enumerate(page.lines, 1):
        if begins := _ON.fullmatch(line) or _OLD.fullmatch(line) or _ASKED.fullmatch(line):
            port = begins["port"]
        if signal := _SIGNAL.fullmatch(line):
            text = f"{signal['dbm']} dBm"
            yield Fact("wifi", port, "signal", float(signal["dbm"]), page.name, at, text)
        elif found := _SLEEPS.fullmatch(line):
            yield Fact("wifi", port, "sleeps", 0, page.name, at, found["sleeps"].lower())
        elif rate := _RATE.fullmatch(line):
            text = f"{rate['rate']} Mbit/s"
            yield Fact("wifi", port, rate["way"], number(rate["rate"]), page.name, at, text)
