"""What values that are legal one by one have to fulfil together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import subjects
from simnet.scenario.parts.scale.checks import check_clients
from simnet.scenario.parts.storage.checks import check_storage

if TYPE_CHECKING:
    from simnet.scenario.core.settings import Table
    from simnet.scenario.core.tree import Path, Tree


__all__ = ["check_whole", "peer_ports"]


def peer_ports(tree: Tree) -> list[tuple[int, int]]:
    """Return (peer, port of that peer) in cabling order."""
    return [
        (number, port)
        for number, peer in enumerate(tree.get(("peers",)))
        for port in range(len(peer["ports"]))
    ]


def check_whole(tree: Tree, table: Table) -> None:
    """Check a whole configuration.

    Raises:
        InputError: traffic on nodes that do not exist, fewer peer ports than ports with traffic,
            a ring or moderation that the NIC cannot have.
    """
    test = tree.get(("workload", "test"))
    switched = "switch" in tree.values or bool(tree.values.get("fabric"))
    if test == "files":
        check_storage(tree, table)
        name = tree.get(("host", "name"))
        if tree.get(("host", "ports")) and not switched:
            raise table.error(
                ("host", "server"), "system.switch", f"the ports of {name} need a switch"
            )
        _check_hosts(tree, table)
        return
    if tree.provenance["workload.message_bytes"].source == "default":
        raise table.error(("workload", "message_bytes"), "workload.message", "missing")
    if "lpars" in tree.values:
        check_clients(tree, table)
        return
    host = tree.get(("host",))
    nodes, wanted = host["machine"]["nodes"], tree.get(("workload", "nodes"))
    path: Path = ("workload", "nodes")
    if wanted > nodes:
        message = f"{wanted} nodes: {host['name']} has {nodes}"
        raise table.error(path, "workload.nodes", message)
    if not switched:
        raise table.error(("workload", "test"), "system.switch", f"{test} needs a switch")
    used = [number for number, port in enumerate(host["ports"]) if port["node"] < wanted]
    if not used:
        message = f"no port of {host['name']} is on the first {wanted} nodes"
        raise table.error(path, "workload.nodes", message)
    ends = len(peer_ports(tree))
    if used[-1] >= ends:
        message = f"{used[-1] + 1} ports need a peer, the peers have {ends} ports"
        raise table.error(path, "system.peers", message)
    _check_streams(tree, table)
    for subject in subjects():
        subject.check(tree, table)
    _check_hosts(tree, table)


def _check_hosts(tree: Tree, table: Table) -> None:
    """Check bonds, kernel and ports of every host."""
    for place in _hosts(tree):
        for subject in subjects():
            subject.check_host(tree, place, table)


def _check_streams(tree: Tree, table: Table) -> None:
    """Refuse what is only simulated where both ends are whole machines."""
    workload = tree.get(("workload",))
    if workload["peers_simulated"] == "machines" or workload["test"] == "relay":
        return
    path: Path = ("workload", "peers_simulated")
    message = 'expected peers_simulated = "machines"'
    if workload["test"] == "tcp_rr" and workload["peers_simulated"] == "ends":
        raise table.error(path, "workload.peers_simulated", f"ends answer no requests: {message}")
    if workload["connections"] > 1:
        raise table.error(path, "workload.connections", f"several connections: {message}")
    if "hypervisor" in tree.values:
        text = f"the ends are partitions of one machine: {message}"
        raise table.error(path, "workload.peers_simulated", text)
    for place in _hosts(tree):
        for port in tree.get((*place, "ports")):
            if port["nic"]["ipoib_mode"] != "none":
                text = f"{port['name']} is an InfiniBand port: {message}"
                raise table.error(path, "workload.peers_simulated", text)


def _hosts(tree: Tree) -> list[Path]:
    return [("host",), *(("peers", number) for number in range(len(tree.get(("peers",)))))]
