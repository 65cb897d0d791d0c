"""Rates of ports and protocols: sar -n DEV, EDEV, UDP, TCP, ETCP."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)?")

SIGN: Final = re.compile(r"(?:rxpck|rxdrop|rxerr|idgm|idgmerr|oseg|retrans)/s")


def read(page: Page) -> Iterator[Fact]:
    """Yield rates per second; of ports the subject is the port."""
    names: list[str] = []
    port = False
    for at, line in enumerate(page.lines, 1):
        cells = line.split()
        if SIGN.search(line):
            names = [cell for cell in cells if cell.endswith("/s") or cell == "%ifutil"]
            port = "IFACE" in cells
            continue
        values = cells[-len(names) :] if names else []
        if not names or len(cells) <= len(names) or not all(map(_NUMBER.fullmatch, values)):
            names = names if not cells else []
            continue
        subject = cells[-len(names) - 1] if port else ""
        for name, value in zip(names, values, strict=True):
            text = f"{value} %" if name.startswith("%") else f"{value} 1/s"
            yield Fact("sar", subject, name, number(value), page.name, at, text)
