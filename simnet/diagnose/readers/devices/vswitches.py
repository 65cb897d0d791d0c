"""Open vSwitch's datapath in the kernel: lookups of packets, and those lost on the way up.

Source: ovs-dpctl(8), show.
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page

_LOOKUPS: Final = re.compile(
    r"\s*lookups: hit:(?P<hit>\d{1,18}) missed:(?P<missed>\d{1,18}) lost:(?P<lost>\d{1,18})\s*"
)
_PATH: Final = re.compile(r"\s*(?P<name>[a-z]{1,12}@[\w.-]{1,40}):\s*")

OUTPUTS: Final = {"datapath": "ovs-dpctl show"}
SIGN: Final = re.compile(r"lookups: hit:\d")


def read(page: Page) -> Iterator[Fact]:
    """Yield hits, misses and losses of each datapath."""
    path = ""
    for at, line in enumerate(page.lines, 1):
        if head := _PATH.fullmatch(line):
            path = head["name"]
        elif found := _LOOKUPS.fullmatch(line):
            for name, value in found.groupdict().items():
                yield Fact("datapath", path, name, float(value), page.name, at)
