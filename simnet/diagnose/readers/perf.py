"""Where CPU time goes: functions of the kernel in perf top and perf report."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

# with children the second share is the function's own
_ROW: Final = re.compile(
    r"\s*[|+*-]*\s*(?:\d{1,3}\.\d+%\s+)?(?P<share>\d{1,3}\.\d+)%\s.*?(?:\[k\]\s+)(?P<name>[A-Za-z_][\w.$]{0,80})"
    r"(?:\s.*)?"
)

OUTPUTS: Final = {"hot": "perf"}
SIGN: Final = re.compile(r"\d%\s.*\[k\] ")


def read(page: Page) -> Iterator[Fact]:
    """Yield the share of CPU time of each function of the kernel, in percent."""
    for at, line in enumerate(page.lines, 1):
        if row := _ROW.fullmatch(line):
            text = f"{row['share']} %"
            yield Fact("hot", "", row["name"], number(row["share"]), page.name, at, text)
