"""/proc/pressure and numastat: what tasks wait for, and on which node their memory is."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_LINE: Final = re.compile(
    r"(?P<file>\S*?(?:cpu|io|memory|irq)(?:\.pressure)?:)?\s*(?P<who>some"
    r"|full) avg10=(?P<ten>[\d.]{1,8})"
    r" avg60=(?P<sixty>[\d.]{1,8}) avg300=[\d.]{1,8} total=\d{1,20}\s*"
)
_OF: Final = re.compile(r"(?:pressure/|\b)(?P<what>cpu|io|memory|irq)(?:\.pressure)?(?:$|[\s:|;&])")
_NUMA: Final = re.compile(
    r"(?P<name>numa_hit|numa_miss|other_node|local_node)(?P<values>(?:\s+\d{1,20})+)\s*"
)

OUTPUTS: Final = {"pressure": "/proc/pressure", "numa": "numastat"}
SIGN: Final = re.compile(r"avg10=|(?m:^\s*numa_(?:hit|miss))|(?m:^other_node\s)")


def read(page: Page) -> Iterator[Fact]:
    """Yield percent of the last minute that some or all tasks waited, and pages by node."""
    what = _what(page.name)
    for at, line in enumerate(page.lines, 1):
        if found := _LINE.fullmatch(line):
            of = _what(found["file"] or "") or what
            most = max(number(found["ten"]), number(found["sixty"]))
            yield Fact("pressure", of, found["who"], most, page.name, at, f"{most:g} %")
        elif pages := _NUMA.fullmatch(line):
            for node, value in enumerate(pages["values"].split()):
                yield Fact("numa", f"node {node}", pages["name"], number(value), page.name, at)
        elif named := _what(line):
            what = named


def _what(text: str) -> str:
    found = (
        _OF.search(text)
        if "pressure" in text or text.rstrip(":") in {"cpu", "io", "memory"}
        else None
    )
    return found["what"] if found else ""
