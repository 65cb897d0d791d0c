"""By which fields a card spreads flows over its queues: ethtool -n PORT rx-flow-hash TYPE.

Source: ethtool(8), rx-flow-hash; ethtool.c, `dump_rxfhash`.
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page

_HEAD: Final = re.compile(
    r"\s*(?P<protocol>TCP|UDP) over IPV(?P<version>[46]) flows use these fields for computing"
    r" Hash flow key:\s*"
)
_FIELD: Final = re.compile(r"\s*(?P<name>IP [SD]A|L4 bytes .{1,40}|VLAN tag|L3 proto|L2DA)\s*")

OUTPUTS: Final = {"hash": "ethtool -n PORT rx-flow-hash"}
SIGN: Final = re.compile(r"fields for computing Hash flow key:")


def read(page: Page) -> Iterator[Fact]:
    """Yield the fields of each type of flow, `udp4` and the like, by port."""
    kind, begun, fields = "", 0, list[str]()
    for at, line in enumerate((*page.lines, ""), 1):
        if kind and (field := _FIELD.fullmatch(line)):
            fields.append(field["name"])
            continue
        if kind and fields:
            text = ", ".join(fields)
            yield Fact("hash", page.port_at(begun), kind, len(fields), page.name, begun, text)
        head = _HEAD.fullmatch(line)
        kind = f"{head['protocol'].lower()}{head['version']}" if head is not None else ""
        begun, fields = at, []
