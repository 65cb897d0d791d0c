"""MTU and bonds: what `ip` printed of the interfaces, and `/proc/net/bonding`.

Source: ip-link(8); Documentation/networking/bonding.rst of Linux, and `bond_info_show_master` of
drivers/net/bonding/bond_procfs.c.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from simnet.importing.parser import Kind, Parser, Told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.importing.evidence import Evidence
    from simnet.importing.files.files import Files

__all__ = ["PARSER", "bond_rates", "listed", "mtus"]

_LINE: Final = re.compile(r"^\d{1,6}: ([^\s:@]{1,15})[@:].*? mtu (\d{2,6})\b", re.MULTILINE)
_NETSTAT: Final = re.compile(r"^Iface +MTU ", re.MULTILINE)
_NETSTAT_ROW: Final = re.compile(r"^([^\s:]{1,15}) +(\d{2,6}) +\d", re.MULTILINE)
_BONDS: Final = "proc/net/bonding"
_MODE: Final = re.compile(r"^Bonding Mode: (.{1,80})$", re.MULTILINE)
# of bond_mode_name in drivers/net/bonding/bond_main.c
_MODES: Final = {
    "load balancing (round-robin)": "balance-rr",
    "fault-tolerance (active-backup)": "active-backup",
    "load balancing (xor)": "balance-xor",
    "fault-tolerance (broadcast)": "broadcast",
    "IEEE 802.3ad Dynamic link aggregation": "802.3ad",
    "transmit load balancing": "balance-tlb",
    "adaptive load balancing": "balance-alb",
}
_SET: Final = {
    r"Transmit Hash Policy": "xmit_hash_policy",
    r"MII Polling Interval \(ms\)": "miimon",
    r"Up Delay \(ms\)": "updelay",
    r"Down Delay \(ms\)": "downdelay",
    r"Primary Slave": "primary",
}
_SLAVE: Final = re.compile(r"^Slave Interface: (\S{1,15})$", re.MULTILINE)
_SPEED: Final = re.compile(
    r"^Slave Interface: (\S{1,15})\n(?:(?!Slave Interface)[^\n]*\n){0,4}?Speed: (\d{1,7}) Mbps$",
    re.MULTILINE,
)


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


def bond_rates(files: Files) -> dict[str, tuple[int, str]]:
    """Return the speed of each slave of a bond in Mbit/s, as the bond knows it, and the file."""
    return {
        slave: (int(mbps), file)
        for file, text, _ in _bonds(files).values()
        for slave, mbps in _SPEED.findall(text)
    }


def _bonds(files: Files) -> dict[str, tuple[str, str, list[str]]]:
    """Return file, text and slaves of each bond, by its name."""
    found = {}
    for name in files.names(_BONDS):
        file = f"{_BONDS}/{name}"
        text = files.text(file) or ""
        slaves = _SLAVE.findall(text)
        if slaves and _MODE.search(text):
            found[name] = (file, text, slaves)
    return found


def _settings(evidence: Evidence) -> Iterator[Told]:
    """Yield what the bond is set to; of several bonds none is modelled."""
    bonds = _bonds(evidence.files)
    if len(bonds) != 1:
        return
    ((file, text, slaves),) = bonds.values()
    mode = _MODE.search(text)
    if mode is None or mode[1] not in _MODES:
        return
    yield Told("modprobe bonding mode", _MODES[mode[1]], file)
    for heading, setting in _SET.items():
        if found := re.search(rf"^{heading}: (\S{{1,40}})", text, re.MULTILINE):
            yield Told(f"modprobe bonding {setting}", found[1], file)
    for slave in slaves:
        yield Told(f"ifenslave bond0 {slave}", "on", file)


def _notes(evidence: Evidence) -> Iterator[str]:
    bonds = _bonds(evidence.files)
    for name, (_, text, slaves) in bonds.items():
        mode = _MODE.search(text)
        if len(bonds) > 1 and mode is not None:
            yield (
                f"{name}, {mode[1]}, of {', '.join(slaves)}: read, not used; of several bonds each"
                " port is modelled by itself"
            )


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
    ),
    trees=(f"{_BONDS}/*",),
    settings=_settings,
    notes=_notes,
)
