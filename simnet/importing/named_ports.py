"""Ports that some file names, on hosts of which nobody collected `/sys` or `ethtool -i`.

What ethtool printed of a port has its name in the first line, in the prompt before it, or in the
file's name; drivers call interrupts after their ports; `ip link`, `ifconfig`, `netstat -i`, `sar`
and `/proc/net/dev` list them; a bond has them.

Source: `request_irq` in the drivers of Linux; netstat(8), ip-link(8).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final

from simnet.importing.files.files import Files
from simnet.importing.outputs import INTERFACE, Outputs
from simnet.importing.parsers.bonds import bonds
from simnet.importing.parsers.interrupts import interrupt_counts
from simnet.importing.parsers.links import listed, mtus
from simnet.importing.parsers.sysstat import interfaces

_CLASS: Final = "sys/class/net"
_NAME: Final = r"(?:eth|en[opsxP]|em|lan|wan|dsl|ib|p\d{1,2}p|usb|can|wl|ww)[a-z0-9]*\d[a-z0-9]*"
# OpenWrt has ports without a number
_PORT: Final = re.compile(rf"{_NAME}|wan|lan")
# as in i40e-eth0-TxRx-3, ens192-rxtx-0, eth0-rx-1, enp1s0; and several that share an interrupt
_ROW: Final = re.compile(
    rf"(?<![^\s,])(?:[A-Za-z]\w{{0,15}}-)?({_NAME})(?:[-:@](?=[^\s,]*\d)[^\s,]{{1,30}})?(?![^\s,])"
)
_VIRTUAL: Final = re.compile(
    r"(?:lo|veth|docker|br-|virbr|bond|team|tun|tap|wg|cali|flannel|cni|cilium|vxlan|dummy|ifb|gre"
    r"|sit|vnet|kube|nodelocaldns|lxc|br\d|vlan|ip6|erspan|vmnet)\S*|\S+[.@]\S+"
)
_BUS: Final = re.compile(r"v?s?can\d{1,3}")
_MOST: Final = 64
_DEVICE: Final = re.compile(r"^ *([^\s:]{1,15}):(?: *\d{1,20}){16}\s*$", re.MULTILINE)
_LISTS: Final[Mapping[str, Callable[[str], Iterable[str]]]] = {
    "ip link": mtus,
    "netstat -i": mtus,
    "ip -br link": partial(listed, "ip -br link"),
    "ifconfig": partial(listed, "ifconfig"),
    "net/dev": _DEVICE.findall,
}


def named_ports(files: Files, outputs: Outputs) -> dict[str, str]:
    """Return the file that names each port."""
    found: dict[str, str] = {}
    for name, told in outputs.of_interfaces():
        if _PORT.fullmatch(name) or (told.headed and not _VIRTUAL.fullmatch(name)):
            found.setdefault(name, told.name)
    for name in files.names(_CLASS):
        if INTERFACE.fullmatch(name) and not _VIRTUAL.fullmatch(name):
            found.setdefault(name, f"{_CLASS}/{name}")
    lines = outputs.one("interrupts")
    if lines is not None:
        for _, rest in interrupt_counts(lines.text).values():
            for name in _ROW.findall(rest):
                found.setdefault(name, lines.name)
    found = found or _listed(outputs)
    for bond in bonds(files, outputs).values():
        for name in bond.slaves:
            found.setdefault(name, bond.source)
    return dict(list(found.items())[:_MOST])


def _listed(outputs: Outputs) -> dict[str, str]:
    """Return the ports of the first list of interfaces; of sar's those that carry something."""
    for kind, names in _LISTS.items():
        listed = outputs.one(kind)
        if listed is not None:
            ports = [name for name in names(listed.text) if _PORT.fullmatch(name)]
            if ports:
                return dict.fromkeys(ports, listed.name)
    carry = interfaces(outputs).items()
    return {name: file for name, (frames, file) in carry if frames and _PORT.fullmatch(name)}


def not_simulated(name: str) -> str:
    """Return why a port of this name cannot be simulated; empty if it can."""
    return "a CAN bus carries no packets of IP" if _BUS.fullmatch(name) else ""
