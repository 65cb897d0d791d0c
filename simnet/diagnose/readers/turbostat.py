"""turbostat: the clock that CPUs have while they are busy, and how they sleep."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

# residencies of a core: as it counts them itself, or as the kernel asked for them
_STATE: Final = re.compile(r"CPU%c\d{1,2}|C\d{1,2}\w{0,4}%")

OUTPUTS: Final = {"turbo": "turbostat"}
SIGN: Final = re.compile(r"Bzy_MHz")


def read(page: Page) -> Iterator[Fact]:
    """Yield clocks in MHz, the load and the time in each idle state in percent, by CPU."""
    columns: list[str] = []
    for at, line in enumerate(page.lines, 1):
        if "Bzy_MHz" in line:
            columns = line.split()
        elif columns:
            yield from _turbostat(page, at, columns, line.split())


def _turbostat(page: Page, at: int, columns: list[str], cells: list[str]) -> Iterator[Fact]:
    """Yield the clock and the load of a CPU; what is of a package stands in its first row alone."""
    row = dict(zip(columns, cells, strict=False))
    cpu = row.get("CPU", "")
    if not cpu.isdecimal() or len(cells) < columns.index("Bzy_MHz") + 1:
        return
    slept = [(name, "%") for name in row if _STATE.fullmatch(name)]
    for name, unit in (("Bzy_MHz", "MHz"), ("TSC_MHz", "MHz"), ("Busy%", "%"), *slept):
        if re.fullmatch(r"\d{1,6}(?:\.\d+)?", row.get(name, "")):
            text = f"{row[name]} {unit}"
            yield Fact("turbo", f"CPU {cpu}", name, number(row[name]), page.name, at, text)
