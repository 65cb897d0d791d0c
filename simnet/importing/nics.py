"""The network ports of a host: name, node, driver, queues, link.

A port is an interface with a device behind it. Loopback, bridges, bonds, tunnels and the ends of
pairs that lead to containers have none.

Source: Documentation/ABI/testing/sysfs-class-net and sysfs-class-net-queues of Linux.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

from simnet.host.cpulist import parse_cpumask
from simnet.importing.named_ports import named_ports
from simnet.importing.outputs import INTERFACE
from simnet.importing.parsers.bonds import bond_rates
from simnet.importing.parsers.driver_names import driver_of
from simnet.importing.parsers.ethtool import (
    current_settings,
    link_bps,
    most,
    pairs,
    rings_of,
    speed_bps,
)
from simnet.importing.parsers.interrupts import named_queues
from simnet.importing.parsers.kernel_log import logged_ports
from simnet.importing.parsers.links import mtus
from simnet.importing.parsers.pci import called, driver_in_use
from simnet.importing.parsers.pf_ring import captured
from simnet.importing.read_nic import ReadNic

if TYPE_CHECKING:
    from simnet.importing.files.files import Files
    from simnet.importing.outputs import Outputs
    from simnet.importing.topology import Topology

_CPUS: Final = "sys/devices/system/cpu"
_CLASS: Final = "sys/class/net"
_PCI: Final = "sys/bus/pci/devices"
_NO_DEVICE: Final = frozenset({
    "bridge", "bonding", "team", "tun", "veth", "dummy", "openvswitch", "vxlan", "macvlan", "vrf",
    "ipvlan", "ifb", "gre", "ip_tunnel", "sit", "xfrm", "geneve", "netdevsim", "batman_adv",
    "wireguard", "nlmon", "802.1Q VLAN Support",
})  # fmt: skip
_ADDRESS: Final = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_VIRTIO: Final = re.compile(r"virtio\d{1,4}")
_QUEUE: Final = re.compile(r"(rx|tx)-\d{1,5}")


def read_nics(files: Files, outputs: Outputs, topology: Topology) -> tuple[ReadNic, ...]:
    """Return the ports, by name."""
    found: dict[str, ReadNic] = {}
    for name, device in sorted(_devices(files).items()):
        nic = found[name] = ReadNic(name)
        _from_sysfs(nic, files, device, topology)
    # where /sys was collected it has all ports; else a port is what any file names
    named = {} if found or files.names(_CPUS) else named_ports(files, outputs)
    for name in sorted({*outputs.interfaces(), *named}):
        told = outputs.one("ethtool -i", name)
        driver = pairs(told.text) if told is not None else {}
        known = found.get(name)
        if known is None and (_is_port(driver) or (name in named and _may_be_port(driver))):
            known = found[name] = ReadNic(name)
        if known is not None:
            _from_ethtool(known, outputs, name, driver)
    _from_listings(found, named, files, outputs, len(topology.cpus))
    if len(topology.nodes) == 1:
        for nic in found.values():
            nic.put("node", topology.nodes[0].number, topology.source)
    return tuple(found[name] for name in sorted(found))


def _from_listings(
    found: dict[str, ReadNic], named: dict[str, str], files: Files, outputs: Outputs, cpus: int
) -> None:
    """Note what listings of all ports, cards and interrupts say of the ports."""
    for name, (rate, source) in bond_rates(files, outputs).items():
        if name in found:
            found[name].put("link_bps", link_bps(rate) or None, source)
    for kind in ("ip link", "netstat -i"):
        links = outputs.one(kind)
        for name, mtu in mtus(links.text).items() if links is not None else ():
            if name in found and links is not None:
                found[name].put("mtu_bytes", mtu, links.name)
    _from_log(found, outputs)
    _from_capture(found, outputs)
    pci, lines = outputs.one("lspci -vv"), outputs.one("interrupts")
    for nic in found.values():
        if pci is not None:
            if nic.text("slot") or len(found) == 1:
                nic.put("driver", driver_in_use(pci.text, nic.text("slot")), pci.name)
            nic.put("called", called(pci.text, nic.text("slot")), pci.name)
        if nic.name in named:
            _from_names(nic, files)
        if nic.name in named and lines is not None:
            queues, why = named_queues(lines.text, nic.name, cpus)
            nic.put("rx_queues", queues or None, lines.name, why)
        counters = outputs.one("ethtool -S", nic.name)
        if counters is not None and (driver := driver_of(counters.text)) is not None:
            why = f"no file says it: {driver[1]} is a counter of {driver[0]}"
            nic.put("driver", driver[0], counters.name, why)


def _from_capture(found: dict[str, ReadNic], outputs: Outputs) -> None:
    told = outputs.one("pf_ring info")
    name, said = captured(told.text) if told is not None else ("", {})
    for key, value in said.items() if name in found else ():
        found[name].put(key, value, told.name if told is not None else "")


def _from_log(found: dict[str, ReadNic], outputs: Outputs) -> None:
    log = outputs.one("dmesg")
    for port in logged_ports(log.text) if log is not None else ():
        if log is not None and (nic := found.get(port.name)) is not None:
            nic.put("driver", port.driver, log.name)
            nic.put("slot", port.slot, log.name)
            nic.put("link_bps", link_bps(port.link_mbps) or None, log.name)


def _is_port(driver: dict[str, str]) -> bool:
    """Whether what `ethtool -i` says is said of a device."""
    bus = driver.get("bus-info", "")
    return (
        bool(driver.get("driver"))
        and driver["driver"] not in _NO_DEVICE
        and bus not in {"", "N/A", "tap"}
    )


def _may_be_port(driver: dict[str, str]) -> bool:
    """Whether nothing that `ethtool -i` says, if it is there, says that it is no device."""
    return driver.get("driver") not in _NO_DEVICE and driver.get("bus-info") not in {"N/A", "tap"}


def _from_names(nic: ReadNic, files: Files) -> None:
    """Note the queues that files of `/sys` are named after."""
    names = files.names(f"{_CLASS}/{nic.name}/queues")
    for way in ("rx", "tx"):
        count = sum(bool(_QUEUE.fullmatch(n)) and n.startswith(way) for n in names)
        place = f"{_CLASS}/{nic.name}/queues"
        nic.put(f"{way}_queues", count or None, place, f"the queues that {place} names")


def _devices(files: Files) -> dict[str, str]:
    """Return the folder of the device of each interface that has one."""
    found = {}
    for name in files.names(_CLASS):
        device = f"{_CLASS}/{name}/device"
        if INTERFACE.fullmatch(name) and (real := files.real(device)) and files.names(real):
            found[name] = real
    # snapshots without the links of /sys/class
    for slot in files.names(_PCI):
        for place in (f"{_PCI}/{slot}", *(f"{_PCI}/{slot}/{one}" for one in _virtio(files, slot))):
            for name in files.names(f"{place}/net"):
                real = files.real(place)
                if INTERFACE.fullmatch(name) and real:
                    found.setdefault(name, real)
    return found


def _virtio(files: Files, slot: str) -> list[str]:
    return [name for name in files.names(f"{_PCI}/{slot}") if _VIRTIO.fullmatch(name)]


def _from_sysfs(nic: ReadNic, files: Files, device: str, topology: Topology) -> None:
    interface = next(
        (
            place
            for place in (f"{_CLASS}/{nic.name}", f"{device}/net/{nic.name}")
            if files.names(place)
        ),
        f"{device}/net/{nic.name}",
    )
    nic.place = interface
    name = posixpath.basename(device)
    nic.put("virtio", name if _VIRTIO.fullmatch(name) else "", device)
    nic.put("slot", _slot(device), device)
    driver = files.target(f"{device}/driver")
    if driver:
        nic.put("driver", posixpath.basename(driver), f"{device}/driver")
    place = device
    while place and files.number(f"{place}/numa_node") is None:
        # a virtio device is a child of its PCI device
        place = posixpath.dirname(place)
    number = files.number(f"{place}/numa_node") if place else None
    if number is not None and any(node.number == number for node in topology.nodes):
        nic.put("node", number, f"{place}/numa_node")
    else:
        _local_cpus(nic, files, device, topology)
    names = files.names(f"{interface}/queues")
    counts = {
        way: sum(bool(_QUEUE.fullmatch(n)) and n.startswith(way) for n in names)
        for way in ("rx", "tx")
    }
    for way, count in counts.items():
        if count:
            nic.put(f"{way}_queues", count, f"{interface}/queues")
    mtu = files.number(f"{interface}/mtu")
    nic.put("mtu_bytes", mtu if mtu and mtu > 0 else None, f"{interface}/mtu")
    speed = files.number(f"{interface}/speed")
    nic.put("link_bps", link_bps(speed or 0) or None, f"{interface}/speed")


def _slot(device: str) -> str:
    """Return the PCI address of a device, or of the nearest above it."""
    parts = reversed(device.split("/"))
    return next((part for part in parts if _ADDRESS.fullmatch(part)), "")


def _local_cpus(nic: ReadNic, files: Files, device: str, topology: Topology) -> None:
    """Find the node by the CPUs that are near the device."""
    place = device
    while place and files.text(f"{place}/local_cpus") is None:
        place = posixpath.dirname(place)
    local = parse_cpumask(files.text(f"{place}/local_cpus") or "") if place else None
    if not local:
        return
    fitting = [node for node in topology.nodes if node.cpus and node.cpus == local & topology.cpus]
    if len(fitting) == 1:
        nic.put("node", fitting[0].number, f"{place}/local_cpus")


def _from_ethtool(nic: ReadNic, outputs: Outputs, name: str, driver: dict[str, str]) -> None:
    told = outputs.one("ethtool -i", name)
    if told is not None:
        nic.put("driver", driver.get("driver"), told.name)
        bus = driver.get("bus-info", "")
        nic.put("slot", bus if _ADDRESS.fullmatch(bus) else "", told.name)
    told = outputs.one("ethtool -l", name)
    if told is not None:
        numbers = current_settings(told.text)
        combined = numbers.get("Combined", 0)
        largest = most(told.text)
        can = largest.get("Combined") or largest.get("RX") or None
        nic.put("most_queues", can, told.name)
        for way, key in (("rx", "RX"), ("tx", "TX")):
            nic.put(f"{way}_queues", combined + numbers.get(key, 0) or None, told.name)
    told = outputs.one("ethtool -x", name)
    if told is not None:
        nic.put("rx_queues", rings_of(told.text), told.name)
    told = outputs.one("ethtool -g", name)
    if told is not None:
        numbers = current_settings(told.text)
        nic.put("rx_ring", numbers.get("RX") or None, told.name)
        nic.put("tx_ring", numbers.get("TX") or None, told.name)
        nic.put("most_rx_ring", most(told.text).get("RX") or None, told.name)
    told = outputs.one("ethtool", name)
    if told is not None:
        nic.put("link_bps", speed_bps(told.text) or None, told.name)
