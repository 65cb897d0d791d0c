"""How wide and how fast a port's PCI Express slot is, and at which NUMA node.

Source: lspci(8); PCI Express Base Specification 6.0, 4.2: 8b/10b coding up to 5 GT/s, 128b/130b
from 8 GT/s on.
"""

import re
from dataclasses import dataclass
from typing import Final

from simnet.importing.evidence import Evidence
from simnet.importing.kind import Kind
from simnet.importing.parser import Parser
from simnet.importing.read_nic import ReadNic

_DEVICE: Final = re.compile(r"^((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ", re.MULTILINE)
_CALLED: Final = re.compile(
    r"^((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (.{1,200})$", re.MULTILINE
)
_ETHERNET: Final = re.compile(r"(?:Ethernet|Network) controller")
_LINK: Final = re.compile(r"LnkSta:\s*Speed ([\d.]{1,5})GT/s(?: \([a-z]+\))?, Width x(\d{1,2})\b")
_IN_USE: Final = re.compile(r"^\s+Kernel driver in use: ([\w-]{1,30})\s*$", re.MULTILINE)
_NODE: Final = re.compile(r"NUMA node: (\d{1,5})")
_SPEED: Final = re.compile(r"([\d.]{1,5}) GT/s")
_OLD_CODING_GT: Final = 5.0


@dataclass(frozen=True)
class Slot:
    """A PCI Express link."""

    bytes_per_s: int  # what it carries each way, after its line code; 0 if it is not known
    node: int | None  # NUMA node; None if it is not known
    source: str  # the file


def slot_of(evidence: Evidence, nic: ReadNic) -> Slot | None:
    """Return the slot of a port; None if nothing tells it."""
    address = nic.text("slot")
    told = evidence.outputs.one("lspci -vv")
    if address and told is not None:
        parts = _DEVICE.split(told.text)
        blocks = dict(zip(parts[1::2], parts[2::2], strict=True))
        block = blocks.get(address) or blocks.get(address.removeprefix("0000:"))
        if block:
            link, node = _LINK.search(block), _NODE.search(block)
            rate = _rate(link[1], int(link[2])) if link else 0
            return Slot(rate, int(node[1]) if node else None, told.name)
    files, place = evidence.files, f"{nic.place}/device"
    speed = _SPEED.match(files.text(f"{place}/current_link_speed") or "")
    width = files.number(f"{place}/current_link_width")
    if speed and width and width > 0:
        return Slot(_rate(speed[1], width), None, f"{place}/current_link_speed")
    return None


def called(text: str, address: str) -> str:
    """Return what lspci calls the device of an address, or the only Ethernet one; else nothing."""
    names = {slot: name.strip() for slot, name in _CALLED.findall(text)}
    found = names.get(address) or names.get(address.removeprefix("0000:"))
    if found or address:
        return found or ""
    ethernet = {name for name in names.values() if _ETHERNET.match(name)}
    return ethernet.pop() if len(ethernet) == 1 else ""


def driver_in_use(text: str, address: str) -> str:
    """Return the driver of an address, or of the only Ethernet device, that `lspci -k` prints."""
    parts = _DEVICE.split(text)
    blocks = dict(zip(parts[1::2], parts[2::2], strict=True))
    if not address:
        ethernet = [slot for slot, block in blocks.items() if _ETHERNET.match(block)]
        address = ethernet[0] if len(ethernet) == 1 else ""
    block = blocks.get(address) or blocks.get(address.removeprefix("0000:")) or ""
    matched = _IN_USE.search(block)
    return matched[1] if matched else ""


def _rate(speed: str, width: int) -> int:
    """Return bytes a second of a link."""
    try:
        transfers = float(speed)
    except ValueError:
        return 0
    code = 8 / 10 if transfers <= _OLD_CODING_GT else 128 / 130
    return round(transfers * 1e9 * code / 8) * width


PARSER: Final = Parser(
    kinds=(
        Kind(
            "lspci -vv",
            r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] ",
            line=r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] [A-Z][^\n:]{2,60}: ",
            command="lspci -vv",
            folder="pci",
            also=("pci/lspci_-nnvv", "pci/lspci_-vvv", "pci/lspci_-nvv"),
            live=True,
        ),
    ),
    trees=tuple(
        f"sys/class/net/{{port}}/device/{name}"
        for name in ("numa_node", "local_cpus", "current_link_speed", "current_link_width")
    ),
)
