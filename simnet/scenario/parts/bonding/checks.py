"""What a bond needs, and which of its settings nothing reads.

Source: Documentation/networking/bonding.txt.
"""

from collections.abc import Iterator
from typing import Final

from simnet.host.release import release
from simnet.net.bonding.hash import SINCE
from simnet.scenario.core.effective import Effective, Host
from simnet.scenario.core.subject import exchanges
from simnet.scenario.core.tree import Path, Table, Tree

_HASH: Final = {"balance-xor", "802.3ad"}
# the switch sees a port as one of its own, not as part of a channel
_SINGLE: Final = {"active-backup", "balance-tlb", "balance-alb"}


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


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    for place, host in effective.places.items():
        yield from _of_host(f"{place}.bonding", host)
    modes = {host.bonding.mode for host in effective.places.values() if _slaves(host)}
    if not modes - _SINGLE:
        yield "switch.load_balance", "no bond is a channel of the switch"


def _slaves(host: Host) -> bool:
    return any(port.enslaved for port in host.ports)


def _of_host(place: str, host: Host) -> Iterator[tuple[str, str]]:
    mode = host.bonding.mode
    if not _slaves(host):
        yield place, "bond0 has no slave"
        return
    if mode not in _HASH:
        yield f"{place}.xmit_hash_policy", f"{mode} does not hash"
    if mode not in _SINGLE:
        yield f"{place}.primary", f"{mode} prefers no slave"
    if not any(port.unplugged_ps or port.plugged_ps for port in host.ports):
        for attribute in ("updelay_ps", "downdelay_ps"):
            yield f"{place}.{attribute}", "no link goes or comes"
