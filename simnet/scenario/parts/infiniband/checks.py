"""What a fabric needs."""

from typing import Final

from simnet.scenario.core.checks import refuse_ends
from simnet.scenario.core.tree import Path, Table, Tree
from simnet.scenario.parts.nic.schema import Nic

_NODES: Final = 2


def check_fabric(tree: Tree, table: Table) -> None:
    """Refuse a fabric in which the two nodes have no place or no way to each other.

    Raises:
        InputError: that, or an InfiniBand port where a peer is not simulated as a machine.
    """
    hosts = (tree.get(("host",)), *tree.get(("peers",)))
    for port in [port for host in hosts for port in host["ports"]]:
        if Nic.variants()[port["nic"]["driver"]].network == "infiniband":
            refuse_ends(tree, table, f"{port['name']} is an InfiniBand port")
    fabric = tree.values.get("fabric")
    if not fabric:
        return
    path: Path = ("fabric", "hosts_per_leaf")
    if len(tree.get(("peers",))) != 1 or len(tree.get(("host", "ports"))) != 1:
        message = "a fabric joins one port of the system with one peer's"
        raise table.error(path, "system.fabric", message)
    if fabric["leaf_switches"] * fabric["hosts_per_leaf"] < _NODES:
        raise table.error(path, "system.fabric", "the fabric has no place for two nodes")
    if fabric["leaf_switches"] > 1 and not fabric["spine_switches"] and not fabric["links"]:
        path = ("fabric", "spine_switches")
        raise table.error(path, "system.fabric", "no spine switch joins the leaf switches")
