"""A guest with virtio: what is below it cannot be seen from inside and is assumed.

A host with a CPU for each CPU of the guest, one for each vhost worker (a pair of queues has one)
and one for the interrupts of the host's own port; KVM with vhost-net and a bridge; a peer outside,
behind a switch. See `simnet.scenario.parts.kvm`.
"""

from typing import Final

import tomlkit

from simnet.importing.host import ReadHost
from simnet.importing.read_nic import ReadNic
from simnet.importing.writing.lines import PortLines
from simnet.importing.writing.link_rates import UNKNOWN_LINK_BPS
from simnet.importing.writing.models import Draft, nic_draft
from simnet.importing.writing.ranked import Note, Rank

_DRIVER: Final = "virtio_net"
_VENDORS: Final = ("GenuineIntel", "AuthenticAMD")
_MOST_CPUS: Final = 128
_WHY: Final = "a guest cannot see its host: a CPU for each of its threads, and one for the port"
PEER_SERVER: Final = "peer.toml"
# no port's own: these begin with `nic-`
_PEER_NIC: Final = "peer-nic.toml"


def is_guest(host: ReadHost, nic: ReadNic) -> bool:
    """Whether a host is a guest as modelled: x86, a virtio port, CPUs numbered from 0 on."""
    vendor = host.facts.get("vendor")
    cpus = host.topology.cpus
    return (
        nic.text("driver") == _DRIVER
        and vendor is not None
        and vendor.value in _VENDORS
        and cpus == frozenset(range(len(cpus)))
        and len(cpus) <= _MOST_CPUS
    )


def above_host(drafts: dict[str, Draft], host: ReadHost, lines: PortLines) -> None:
    """Make processor and server those of the guest's host."""
    cpu, server = drafts["cpu.toml"], drafts["server.toml"]
    cpu.assume("threads_per_core", 1, _WHY)
    cpu.assume("cores_per_socket", len(host.topology.cpus) + lines.most + 1, _WHY)
    for key, value in (("nodes", 1), ("sockets_per_node", 1), ("buses_per_node", 1)):
        server.assume(key, value, _WHY)
    server.assume("links", [], _WHY)
    for key in ("node_cpus", "package_cpus", "core_cpus"):
        server.document.pop(key)
    for port in server.document["ports"]:
        port["node"] = 0


def outside(drafts: dict[str, Draft], name: str, irq: int, rate_bps: int) -> None:
    """Add the peer: a server like the guest's host, with a port of its own."""
    nic = nic_draft(ReadNic(name))
    for key in ("rx_queues", "tx_queues"):
        if key in nic.document:
            nic.assume(key, 1, "nothing is known of the peer: one queue")
    nic.assume("link_rate", f"{rate_bps // 10**6} Mbit/s", "as fast as the way to the peer")
    drafts[_PEER_NIC] = nic
    peer = Draft("server", "the peer, of which nothing is known")
    for key, value in drafts["server.toml"].document.items():
        if key not in {"kind", "description", "ports"}:
            peer.document[key] = value
    table = tomlkit.table()
    table.update({"name": name, "node": 0, "irq": irq, "nic": _PEER_NIC})
    tables = tomlkit.aot()
    tables.append(table)
    peer.document["ports"] = tables
    drafts[PEER_SERVER] = peer


def guest_tables(host: ReadHost, lines: PortLines) -> tuple[str, str]:
    """Return what the scenario's `[system]` says of the guest: a line of it, and a table."""
    cpus = len(host.topology.cpus)
    workers = f"{cpus}-{cpus + lines.most - 1}" if lines.most > 1 else f"{cpus}"
    pins = {"vcpupin": f"0-{cpus - 1}", "emulatorpin": workers, "uplink_cpus": cpus + lines.most}
    table = "".join(f'{key} = "{pin}"\n' for key, pin in pins.items())
    return 'kvm = "kvm-x86"\n', f"[system.guest]\n{table}"


def describe(nic: ReadNic, left_out: int) -> list[Note]:
    """Return the notes of an import: what is assumed below the guest."""
    below = (
        f"{nic.name} is a virtio device: the host below is assumed to have KVM, vhost-net and a"
        " bridge, a CPU for each thread of the guest, and a port of which nothing is known"
    )
    found = [Note(below, Rank.MACHINE)]
    if "link_bps" not in nic.facts:
        rate = UNKNOWN_LINK_BPS // 10**9
        said = f"the way to the peer is assumed to carry {rate} Gbit/s: a guest sees no wire"
        found.append(Note(said, Rank.PORTS))
    if left_out:
        said = f"{left_out} further ports are left out: a guest has one in the model"
        found.append(Note(said, Rank.PORTS))
    return found
