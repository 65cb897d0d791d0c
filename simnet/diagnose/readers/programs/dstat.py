"""dstat: shares of CPU time, and bytes a second of ports.

Source: man dstat; its units are of 1,024 where it prints none of them as bits.
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_NET: Final = re.compile(r"net/(?P<port>[\w.]{1,15})")
_TITLES: Final = re.compile(r"\busr sys idl\b|\brecv +send\b")
_SHARES: Final = {
    "usr": "usr", "sys": "sys", "idl": "idle", "wai": "iowait", "hiq": "irq", "siq": "soft",
    "stl": "steal",
}  # fmt: skip
_VALUE: Final = re.compile(r"(?P<n>\d{1,6}(?:\.\d+)?)(?P<unit>[BkKMG]?)")
_UNIT: Final = {"": 1, "B": 1, "k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

OUTPUTS: Final = {"traffic": "dstat"}
SIGN: Final = re.compile(r"(?m)^\s*usr sys idl wai|\bnet/\w+-|\brecv +send\b")


def read(page: Page) -> Iterator[Fact]:
    """Yield shares of all CPUs in percent, and `recv` and `send` of a port in Mbit/s."""
    port, columns = "", list[list[str]]()
    for at, line in enumerate(page.lines, 1):
        if named := _NET.search(line) if "--" in line else None:
            port = "" if named["port"] == "total" else named["port"]
        elif _TITLES.search(line):
            columns = [part.split() for part in line.split("|")]
        elif columns and line.strip() and "--" not in line:
            cells = [part.split() for part in line.split("|")]
            if len(cells) != len(columns):
                columns = []
                continue
            for names, values in zip(columns, cells, strict=True):
                if len(names) != len(values):  # a date and a time below one title
                    continue
                for name, text in zip(names, values, strict=True):
                    yield from _cell(page, at, port, name, text)


def _cell(page: Page, at: int, port: str, name: str, text: str) -> Iterator[Fact]:
    found = _VALUE.fullmatch(text)
    if found is None:
        return
    if name in _SHARES:
        yield Fact("cpu", "all", _SHARES[name], number(found["n"]), page.name, at, f"{text} %")
    elif name in {"recv", "send"}:
        rate = number(found["n"]) * _UNIT[found["unit"]] * 8 / 1e6
        yield Fact("traffic", port, name, rate, page.name, at, f"{text}/s")
