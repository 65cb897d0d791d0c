"""What values that are legal one by one have to fulfil together."""

from typing import Final

from simnet.scenario.core.subject import exchanges, setup_of, subjects
from simnet.scenario.core.tree import Path, Table, Tree, dotted

_GIB: Final = 1 << 30
MOST_BYTES: Final = 4 * _GIB
"""That a system may take before its first event, by what subjects estimate."""


def asks_for(tree: Tree, table: Table, test: str, part: str) -> bool:
    """Return whether a test is asked for, which a part's table has to describe.

    Raises:
        InputError: the scenario has no such table.
    """
    if tree.get(("workload", "test")) != test:
        return False
    if part not in tree.values:
        message = f"{test}: the scenario has no table [{part}]"
        raise table.error(("workload", "test"), "workload.test", message)
    return True


def peer_ports(tree: Tree) -> list[tuple[int, int]]:
    """Return (peer, port of that peer) in cabling order."""
    return tree.get(("cables",)) or all_peer_ports(tree)


def all_peer_ports(tree: Tree) -> list[tuple[int, int]]:
    """Return (peer, port of that peer), counted through."""
    return [
        (number, port)
        for number, peer in enumerate(tree.get(("peers",)))
        for port in range(len(peer["ports"]))
    ]


def check_whole(tree: Tree, table: Table) -> None:
    """Check a whole configuration: what is simulated, and what every subject refuses.

    Raises:
        InputError: values that do not fit together.
    """
    setup = setup_of(tree.get(("workload", "test")), tree.values.__contains__)
    check = (setup and setup.check) or check_streams
    check(tree, table)
    host = tree.get(("host",))
    if host["ports"] and not is_switched(tree):
        message = f"the ports of {host['name']} need a switch"
        raise table.error(("host", "server"), "system.switch", message)
    _check_size(tree, table)


def _check_size(tree: Tree, table: Table) -> None:
    """Refuse a system that takes more memory than most machines have."""
    needs = [need for subject in subjects() for need in subject.needs(tree)]
    total_bytes = sum(need.count * need.each_bytes for need in needs)
    if total_bytes <= MOST_BYTES:
        return
    most = max(needs, key=lambda need: need.count * need.each_bytes)
    own_bytes = most.count * most.each_bytes
    room_bytes = max(MOST_BYTES - total_bytes + own_bytes, 0)
    largest = most.value * room_bytes // own_bytes
    seconds = sum(need.count * need.each_ps for need in needs) // 10**12
    message = (
        f"{most.count} {most.noun} take some {total_bytes / _GIB:.1f} GiB of memory and"
        f" {seconds} s before the first event, beyond {MOST_BYTES // _GIB} GiB:"
        f" expected {dotted(most.place)} of at most {largest}, got {most.value}"
    )
    raise table.error(most.place, dotted(most.place), message, *most.others)


def check_message(tree: Tree, table: Table) -> None:
    """Refuse a workload without the size of its messages."""
    if tree.provenance["workload.message_bytes"].source == "default":
        raise table.error(("workload", "message_bytes"), "workload.message", "missing")


def is_switched(tree: Tree) -> bool:
    """Return whether a switch or a fabric is between the hosts."""
    return "switch" in tree.values or bool(tree.values.get("fabric"))


def check_streams(tree: Tree, table: Table) -> None:
    """Check what sends over a network.

    Raises:
        InputError: traffic on nodes that do not exist, fewer peer ports than ports with traffic,
            a ring or moderation that the NIC cannot have.
    """
    check_message(tree, table)
    test = tree.get(("workload", "test"))
    host = tree.get(("host",))
    nodes, wanted = host["machine"]["nodes"], tree.get(("workload", "nodes"))
    path: Path = ("workload", "nodes")
    if wanted > nodes:
        message = f"{wanted} nodes: {host['name']} has {nodes}"
        raise table.error(path, "workload.nodes", message)
    if not is_switched(tree):
        raise table.error(("workload", "test"), "system.switch", f"{test} needs a switch")
    used = [number for number, port in enumerate(host["ports"]) if port["node"] < wanted]
    if not used:
        first = 1 + min((port["node"] for port in host["ports"]), default=-1)
        hint = f": {first} or more nodes have one" if first else ""
        message = f"no port of {host['name']} is on the first {wanted} nodes{hint}"
        raise table.error(path, "workload.nodes", message)
    _check_cables(tree, table)
    ends = len(peer_ports(tree))
    if used[-1] >= ends and tree.get(("cables",)):
        message = f"{used[-1] + 1} ports need a cable, there are {ends}"
        raise table.error(("cables",), "system.cables", message)
    if used[-1] >= ends:
        message = f"{used[-1] + 1} ports need a peer, the peers have {ends} ports"
        raise table.error(path, "system.peers", message)
    _check_ends(tree, table)
    for subject in subjects():
        subject.check(tree, table)
    check_hosts(tree, table)


def _check_cables(tree: Tree, table: Table) -> None:
    """Refuse a cable to a port that no peer has, and two to the same port."""
    free = all_peer_ports(tree)
    for peer, port in tree.get(("cables",)):
        if (peer, port) not in free:
            taken = (peer, port) in all_peer_ports(tree)
            message = f"port {port} of peer {peer}: " + (
                "a second cable" if taken else "no peer has that port"
            )
            raise table.error(("cables",), "system.cables", message)
        free.remove((peer, port))


def check_hosts(tree: Tree, table: Table) -> None:
    """Check what every host has: bonds, kernel, ports."""
    for place in _hosts(tree):
        for subject in subjects():
            subject.check_host(tree, place, table)


def refuse_ends(tree: Tree, table: Table, reason: str, *, field: str = "peers_simulated") -> None:
    """Refuse what is only simulated where both ends are whole machines, if they are not."""
    workload = tree.get(("workload",))
    if workload["peers_simulated"] != "machines" and not setup_of(
        workload["test"], tree.values.__contains__
    ):
        message = f'{reason}: expected peers_simulated = "machines"'
        raise table.error(("workload", field), f"workload.{field}", message)


def _check_ends(tree: Tree, table: Table) -> None:
    """Refuse what the ends of streams do not simulate."""
    workload = tree.get(("workload",))
    for exchange in exchanges():
        wanted = workload["test"] in exchange.tests and exchange.whole
        if wanted and workload["peers_simulated"] == "ends":
            refuse_ends(tree, table, wanted)
    if workload["connections"] > 1:
        refuse_ends(tree, table, "several connections", field="connections")


def _hosts(tree: Tree) -> list[Path]:
    return [("host",), *(("peers", number) for number in range(len(tree.get(("peers",)))))]
