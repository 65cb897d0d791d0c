"""MTU of interfaces, and which there are: what `ip`, `ifconfig` and `netstat -i` printed.

Source: ip-link(8), netstat(8).
"""

import json
import re
from typing import Final

from simnet.importing.kind import Kind
from simnet.importing.parser import Parser

_LINE: Final = re.compile(r"^\d{1,6}: ([^\s:@]{1,15})[@:].*? mtu (\d{2,6})\b", re.MULTILINE)
_NETSTAT: Final = re.compile(r"^Iface +MTU ", re.MULTILINE)
_NETSTAT_ROW: Final = re.compile(r"^([^\s:]{1,15}) +(\d{2,6}) +\d", re.MULTILINE)


def mtus(text: str) -> dict[str, int]:
    """Return the MTU of each interface, of `ip link`, as text or JSON, and `netstat -i`."""
    if _NETSTAT.search(text):
        return {name: int(mtu) for name, mtu in _NETSTAT_ROW.findall(text)}
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


# of lists without an MTU: a name, and what says that it is up
_LISTS: Final = {
    "ip -br link": re.compile(
        r"^([^\s:@]{1,15})(?:@\S{1,15})? +(?:(UP|UNKNOWN)|DOWN) ", re.MULTILINE
    ),
    "ifconfig": re.compile(r"^([^\s:]{1,15}):? +(Link encap:|flags=(?:\d+<UP)?)", re.MULTILINE),
}
_DOWN: Final = ("", "flags=")


def listed(kind: str, text: str) -> dict[str, bool]:
    """Return the interfaces that `ip -br link` or `ifconfig` lists, and whether each is up."""
    return {name: state not in _DOWN for name, state in _LISTS[kind].findall(text)}


PARSER: Final = Parser(
    kinds=(
        Kind(
            "ip link",
            r'\[\{"ifindex":|\d{1,6}: lo: <',
            line=r"\d{1,6}: [^\s:@]{1,15}[@:][^\n]{0,40}<[A-Z,_-]+> mtu \d",
            command="ip -j link",
            folder="networking",
            also=("networking/ip_-s_-d_link", "networking/ip_-d_address", "networking/ip_-o_addr"),
        ),
        Kind(
            "netstat -i",
            r"Kernel Interface table",
            line=r"Iface +MTU ",
            command="netstat -i",
            folder="networking",
        ),
    )
)
