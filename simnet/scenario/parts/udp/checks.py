"""What receiving datagrams needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.host.release import release
from simnet.net.udp.rules import FIRST
from simnet.scenario.core.checks import asks_for
from simnet.scenario.core.places import Places
from simnet.scenario.core.subject import Need
from simnet.scenario.parts.nic.schema import UDP_HEADERS_BYTES, Nic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.scenario.core.tree import Path, Table, Tree

__all__ = ["check_udp", "needs"]

# as measured: what a build of so many more has taken
_FLOW_BYTES: Final = 3 << 10
_FLOW_PS: Final = 30 * 10**6


def check_udp(tree: Tree, table: Table) -> None:
    """Refuse a load without its table, its peer or its CPUs, and what is not modelled of UDP."""
    if not asks_for(tree, table, "udp_stream", "udp"):
        return
    path: Path = ("workload", "test")
    if len(tree.get(("peers",))) != 1:
        message = "udp_stream: expected one peer, which stands for the senders"
        raise table.error(path, "workload.test", message)
    given = tree.get(("udp",))
    if bool(given["rate"]) == bool(given["bit_rate_bps"]):
        message = "expected either rate or bit_rate"
        raise table.error(("udp", "rate"), "udp.rate", message, ("udp", "bit_rate_bps"))
    nic = tree.get(("host", "ports", 0, "nic"))
    room = nic["mtu_bytes"] - UDP_HEADERS_BYTES
    if given["size_bytes"] > room:
        message = f"a packet has room for {room} B, and fragments are not modelled"
        place = ("host", "ports", 0, "nic", "mtu_bytes")
        raise table.error(("udp", "size_bytes"), "udp.size", message, place)
    if not Nic.variants()[nic["driver"]].charges_datagrams:
        known = sorted(name for name, one in Nic.variants().items() if one.charges_datagrams)
        called = nic.get("stands_in_for") or nic["driver"]
        message = f"what {called} has a datagram charged with is not known: expected one of"
        raise table.error(path, "workload.test", f"{message} {', '.join(known)}")
    kernel = tree.get(("host", "kernel"))
    if kernel["system"] != "linux" or release(kernel["version"]) < FIRST:
        message = f"UDP of {kernel['system']} {kernel['version']} is not modelled: Linux 4.13 on"
        raise table.error(path, "workload.test", message, ("host", "kernel"))
    cpus = Places(tree).cpu_count(("host",))
    last = given["first_cpu"] + given["workers"] - 1
    if given["placement"] == "pinned" and last >= cpus:
        message = f"workers run on CPUs up to {last}, the system has 0 to {cpus - 1}"
        raise table.error(("udp", "first_cpu"), "udp", message, ("udp", "workers"))


def needs(tree: Tree) -> Iterator[Need]:
    """Yield what the flows take."""
    if "udp" in tree.values:
        place, count = ("udp", "flows"), tree.get(("udp", "flows"))
        yield Need(place, count, count, "flows", _FLOW_BYTES, _FLOW_PS)
