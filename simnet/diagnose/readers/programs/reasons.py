"""Why the kernel dropped packets: the tracepoint skb:kfree_skb as tools print it, and dropwatch."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_REASON: Final = re.compile(
    r"\b(?:drop[_ ])?reason[:=]? ?'?(?:SKB_DROP_REASON_)?(?P<reason>[A-Z][A-Z0-9_]{3,60})\b"
)
_MAP: Final = re.compile(
    r"@\w{0,40}\[(?:[^\]]*, *)?(?:SKB_DROP_REASON_)?(?P<reason>[A-Z][A-Z0-9_]{3,60})\]: "
    r"(?P<n>\d{1,18})"
)
_PLACE: Final = re.compile(
    r"(?P<n>\d{1,18}) drops at (?P<where>[A-Za-z_]\w{2,80})(?:\.\w{1,20}){0,4}\+"
    r"|@\w{0,40}\[\s*(?P<alone>[a-z_]\w{3,80})(?:\+\d+)?\s*\]: (?P<m>\d{1,18})"
)

OUTPUTS: Final = {"reason": "reasons of dropped packets"}
SIGN: Final = re.compile(r"kfree_skb|reason: |drops at |DROP_REASON|@\w*\[")


def read(page: Page) -> Iterator[Fact]:
    """Yield how often each reason, or each function that drops, stands there."""
    lines: Counter[str] = Counter()
    first: dict[str, int] = {}
    for at, line in enumerate(page.lines, 1):
        if counted := _MAP.search(line):
            name, value = counted["reason"], number(counted["n"])
            yield Fact("reason", "", name, value, page.name, at)
        elif place := _PLACE.search(line):
            name = place["where"] or place["alone"]
            yield Fact("dropped by", "", name, number(place["n"] or place["m"]), page.name, at)
        elif reason := _REASON.search(line):
            lines[reason["reason"]] += 1
            first.setdefault(reason["reason"], at)
    for name, times in lines.items():
        yield Fact("reason", "", name, float(times), page.name, first[name])
