"""MTU and bonds: what `ip` printed of the interfaces, and `/proc/net/bonding`.

Source: ip-link(8); Documentation/networking/bonding.rst of Linux.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from simnet.importing.parser import Kind, Parser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.importing.evidence import Evidence

__all__ = ["PARSER", "mtus"]

_LINE: Final = re.compile(r"^\d{1,6}: ([^\s:@]{1,15})[@:].*? mtu (\d{2,6})\b", re.MULTILINE)
_BONDS: Final = "proc/net/bonding"
_MODE: Final = re.compile(r"^Bonding Mode: (.{1,80})$", re.MULTILINE)
_SLAVE: Final = re.compile(r"^Slave Interface: (\S{1,15})$", re.MULTILINE)


def mtus(text: str) -> dict[str, int]:
    """Return the MTU of each interface, of the text of `ip link` or of its JSON."""
    if not text.lstrip().startswith("["):
        return {name: int(mtu) for name, mtu in _LINE.findall(text)}
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    links = [one for one in document if isinstance(one, dict)]
    return {
        one["ifname"]: one["mtu"]
        for one in links
        if isinstance(one.get("ifname"), str) and type(one.get("mtu")) is int
    }


def _notes(evidence: Evidence) -> Iterator[str]:
    for name in evidence.files.names(_BONDS):
        text = evidence.files.text(f"{_BONDS}/{name}") or ""
        mode, slaves = _MODE.search(text), _SLAVE.findall(text)
        if mode and slaves:
            yield (
                f"{name}, {mode[1]}, of {', '.join(slaves)}: read, not used; each port is modelled"
                " by itself"
            )


PARSER: Final = Parser(
    kinds=(
        Kind(
            "ip link",
            r'\[\{"ifindex":|\d{1,6}: lo: <',
            command="ip -j link",
            folder="networking",
            also=("networking/ip_-s_-d_link", "networking/ip_-d_address", "networking/ip_-o_addr"),
        ),
    ),
    trees=(f"{_BONDS}/*",),
    notes=_notes,
)
