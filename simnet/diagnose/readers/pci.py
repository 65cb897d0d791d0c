"""lspci -vv: link width and speed, ASPM, NUMA node."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_DEVICE: Final = re.compile(
    r"(?P<slot>(?:[0-9a-f]{4,5}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\s+(?P<what>[A-Z][\w /-]+.*?:.*)"
)
_LINK: Final = re.compile(r"Speed (?P<speed>[\d.]+|unknown)(?:GT/s)?[^,]*, Width x(?P<width>\d+)")
_ASPM: Final = re.compile(r"LnkCtl:\s*ASPM (?P<state>.*?)(?: Enabled)?[;,]")
_EXIT: Final = re.compile(r"\bL1 <(?P<most>\d+)us")

OUTPUTS: Final = {"pci": "lspci -vv"}
SIGN: Final = re.compile(r"Lnk(?:Cap|Sta|Ctl):|[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] [A-Z]")


def read(page: Page) -> Iterator[Fact]:
    """Yield what each device says of its link."""
    slot = ""
    for at, line in enumerate(page.lines, 1):
        text = line.strip()
        if device := _DEVICE.match(text):
            slot = device["slot"]
            yield Fact("pci", slot, "device", 0, page.name, at, device["what"])
            continue
        for start in ("LnkCap:", "LnkSta:"):
            if text.startswith(start) and (link := _LINK.search(text)):
                name = start[:-1]
                speed, width = number(link["speed"]), number(link["width"])
                yield Fact("pci", slot, f"{name} speed", speed, page.name, at, f"{speed:g} GT/s")
                yield Fact("pci", slot, f"{name} width", width, page.name, at, f"x{width:g}")
                if "downgraded" in text:
                    yield Fact("pci", slot, "downgraded", 1, page.name, at, "downgraded")
        if aspm := _ASPM.search(text):
            yield Fact("pci", slot, "ASPM", 0, page.name, at, aspm["state"])
        if most := _EXIT.search(text):
            yield Fact("pci", slot, "L1 exit", number(most["most"]), page.name, at, f"{most[1]} us")
