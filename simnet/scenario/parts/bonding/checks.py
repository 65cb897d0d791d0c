"""What a bond needs."""

from simnet.host.release import release
from simnet.net.bonding.hash import SINCE
from simnet.scenario.core.subject import exchanges
from simnet.scenario.core.tree import Path, Table, Tree


def check_bond(tree: Tree, place: Path, table: Table) -> None:
    """Refuse a bond that the kernel refuses, and one that cannot be simulated."""
    host = tree.get(place)
    bonding = host["bonding"]
    slaves = [port["name"] for port in host["ports"] if port["enslaved"]]
    primary = bonding["primary"]
    if slaves and primary not in {"none", *slaves}:
        message = f"{primary} is no slave of bond0: expected one of {', '.join(slaves)}"
        raise table.error((*place, "bonding", "primary"), "system", message)
    test = tree.get(("workload", "test"))
    others = [one for exchange in exchanges() if exchange.whole for one in exchange.tests]
    if slaves and test in {"bidirectional", *others}:
        message = f"{test}: not simulated over a bond, use netserver or netperf"
        raise table.error(("workload", "test"), "workload.test", message)
    version = release(host["kernel"]["version"])
    policy = bonding["xmit_hash_policy"]
    if version < SINCE[policy]:
        since = ".".join(map(str, SINCE[policy]))
        message = f"{policy} is not in Linux {host['kernel']['version']}: it came with {since}"
        raise table.error((*place, "bonding", "xmit_hash_policy"), "system", message)
    if slaves and place != ("host",) and tree.get(("workload", "peers_simulated")) != "machines":
        message = 'a bond on a peer needs peers_simulated = "machines"'
        raise table.error(("workload", "peers_simulated"), "workload.peers_simulated", message)
    for number, port in enumerate(host["ports"]):
        here = (*place, "ports", number)
        if port["unplugged_ps"] and not port["enslaved"]:
            message = f"{port['name']} is no slave of a bond: nothing would take its place"
            raise table.error((*here, "unplugged_ps"), "system", message)
        if port["plugged_ps"] and not 0 < port["unplugged_ps"] < port["plugged_ps"]:
            message = "the cable has to be pulled before"
            raise table.error((*here, "plugged_ps"), "system", message)
