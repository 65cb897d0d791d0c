"""What values that are legal one by one have to fulfil together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simnet.errors import InputError
from simnet.host.release import release
from simnet.net.steering.version import steering_rules
from simnet.net.tcp.rules.sender_version import congestion_controls
from simnet.scenario.core.tree import DEFAULT, dotted
from simnet.scenario.parts.host.checks import SECOND_PS, check_timer
from simnet.scenario.parts.partition.checks import check_partitions
from simnet.scenario.parts.scale.checks import check_clients
from simnet.scenario.parts.storage.checks import check_storage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simnet.scenario.core.settings import Table
    from simnet.scenario.core.tree import Path, Tree

_UD_HEADERS_BYTES: Final = 4
_NODES: Final = 2
_PORTS: Final = 2
_CM_LARGEST_MTU_BYTES: Final = 65520
_LAYER_2_3: Final = (2, 6, 24)

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
    _check_relay(tree, table)
    _check_streams(tree, table)
    _check_fabric(tree, table)
    check_partitions(tree, table)
    _check_hosts(tree, table)


def _check_hosts(tree: Tree, table: Table) -> None:
    """Check bonds, kernel and ports of every host."""
    for place in _hosts(tree):
        _check_bond(tree, place, table)
        _check_kernel(tree, place, table)
        for number, port in enumerate(tree.get((*place, "ports"))):
            _check_nic((*place, "ports", number, "nic"), port["nic"], table)
            _check_gro(tree, (*place, "kernel"), (*place, "ports", number, "nic"), table)
            _check_sorted(tree, (*place, "ports", number), port, table)


def _check_sorted(tree: Tree, path: Path, port: dict[str, Any], table: Table) -> None:
    """Refuse queues that nothing would sort packets to: of streams, or of a bond's slave."""
    test = tree.get(("workload", "test"))
    for field in ("rx_queues", "tx_queues"):
        if port["nic"][field] == 1 or (test == "relay" and not port["enslaved"]):
            continue
        what = "a slave of a bond" if port["enslaved"] else f"workload.test = {test}"
        message = f"{port['name']} has several queues, {what} uses one: expected 1"
        raise table.error((*path, "nic", field), "system", message)


def _check_relay(tree: Tree, table: Table) -> None:
    """Refuse a relay without a load, two ports, or the hosts behind them."""
    if tree.get(("workload", "test")) != "relay":
        return
    path: Path = ("workload", "test")
    if "relay" not in tree.values:
        raise table.error(path, "workload.test", "relay: the scenario has no table [relay]")
    if len(tree.get(("host", "ports"))) < _PORTS or len(tree.get(("peers",))) != _PORTS:
        message = "relay: expected two ports, and a peer behind each"
        raise table.error(path, "workload.test", message)


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


def _check_fabric(tree: Tree, table: Table) -> None:
    """Refuse a fabric in which the two nodes have no place or no way to each other."""
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


def _check_kernel(tree: Tree, place: Path, table: Table) -> None:
    """Refuse an algorithm that the kernel lacks, a delayed ACK that its clock cannot time."""
    kernel = tree.get((*place, "kernel"))
    if kernel["system"] == "aix":
        _check_aix(tree, place, table)
        return
    offered = congestion_controls(kernel["version"])
    chosen = kernel["tcp_congestion_control"]
    if chosen not in offered:
        message = f"{chosen} is not in Linux {kernel['version']}: expected {', '.join(offered)}"
        raise table.error((*place, "kernel", "tcp_congestion_control"), "system", message)
    _check_steering(kernel, (*place, "kernel"), table)
    for attribute in ("delack_min_ps", "ato_min_ps"):
        check_timer(tree, (*place, "kernel"), attribute, table)
    jiffy_ps = SECOND_PS // kernel["hz"]
    # do_tcp_setsockopt: TCP_TIMEOUT_MIN, after rounding up
    option_ps = tree.get((*place, "application", "delack_max_ps"))
    if 0 < option_ps <= jiffy_ps:
        message = f"EINVAL at HZ {kernel['hz']}: expected more than a jiffy, or 0 for not set"
        raise table.error((*place, "application", "delack_max_ps"), "system", message)


def _check_steering(kernel: dict[str, Any], path: Path, table: Table) -> None:
    """Refuse a hash of a packet that has no place in a map."""
    bits, shift = (*path, "rxhash_bits"), (*path, "rps_index_shift")
    given = kernel["rxhash_bits"], kernel["rps_index_shift"]
    try:
        rules = steering_rules(kernel["version"], *given)
    except InputError as error:
        raise table.error(shift, "system", error.message, bits) from error
    if kernel["rps"] and not rules.hash_bits:
        message = f"Linux {kernel['version']} has no hash of its own: RPS needs 1 to 32 bits"
        raise table.error(bits, "system", message, (*path, "rps"))


def _check_aix(tree: Tree, place: Path, table: Table) -> None:
    """Refuse a buffer that AIX refuses; say what of AIX is modelled."""
    host = tree.get(place)
    kernel = host["kernel"]
    most = kernel["sb_max_bytes"]
    spaces: list[tuple[Path, int]] = [
        ((*place, "kernel", name), kernel[name])
        for name in ("tcp_recvspace_bytes", "tcp_sendspace_bytes")
    ]
    spaces += [
        ((*place, "ports", number, name), port[name])
        for number, port in enumerate(host["ports"])
        for name in ("recvspace_bytes", "sendspace_bytes")
    ]
    for path, space in spaces:
        if space > most:
            raise table.error(path, "system", f"{space} B is more than sb_max, {most} B")
    remark = f"{host['name']}: of AIX only TCP is modelled; interrupts and scheduler are Linux's"
    if remark not in table.remarks:
        table.remarks.append(remark)


def _check_bond(tree: Tree, place: Path, table: Table) -> None:
    """Refuse a bond that the kernel refuses, and one that cannot be simulated."""
    host = tree.get(place)
    bonding = host["bonding"]
    slaves = [port["name"] for port in host["ports"] if port["enslaved"]]
    primary = bonding["primary"]
    if slaves and primary not in {"none", *slaves}:
        message = f"{primary} is no slave of bond0: expected one of {', '.join(slaves)}"
        raise table.error((*place, "bonding", "primary"), "system", message)
    test = tree.get(("workload", "test"))
    if slaves and test in {"bidirectional", "tcp_rr"}:
        message = f"{test}: not simulated over a bond, use netserver or netperf"
        raise table.error(("workload", "test"), "workload.test", message)
    version = release(host["kernel"]["version"])
    if bonding["xmit_hash_policy"] == "layer2+3" and version < _LAYER_2_3:
        message = f"layer2+3 is not in Linux {host['kernel']['version']}: it came with 2.6.24"
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


def _hosts(tree: Tree) -> list[Path]:
    return [("host",), *(("peers", number) for number in range(len(tree.get(("peers",)))))]


def _check_nic(path: Path, nic: dict[str, Any], table: Table) -> None:
    """Refuse what the driver refuses (tg3_set_ringparam, tg3_set_coalesce)."""

    def error(field: str, message: str, *others: str) -> InputError:
        paths: Iterator[Path] = ((*path, other) for other in others)
        return table.error((*path, field), "system", message, *paths)

    most = {
        "connected": _CM_LARGEST_MTU_BYTES,
        "datagram": nic["ib_mtu_bytes"] - _UD_HEADERS_BYTES,
    }.get(nic["ipoib_mode"])
    if most and nic["mtu_bytes"] > most:
        message = f"{nic['ipoib_mode']}: an MTU of at most {most} B"
        raise error("mtu_bytes", message, "ipoib_mode", "ib_mtu_bytes")
    if (nic["ipoib_mode"] != "none") != (nic["moderation"] == "completions"):
        message = "ipoib_mode only, and always, with moderation = completions"
        raise error("ipoib_mode", message, "moderation")
    if nic["rx_buffers_posted"] >= nic["rx_ring"]:
        message = f"at most {nic['rx_ring'] - 1} buffers in a ring of {nic['rx_ring']}"
        raise error("rx_buffers_posted", message, "rx_ring")
    _check_queues(nic, error)
    for direction in ("rx", "tx"):
        if nic["moderation"] not in {"coalesce", "status-blocks"}:
            continue
        usecs, frames = nic[f"{direction}_usecs_ps"], nic[f"{direction}_frames"]
        if not usecs and not frames:
            message = f"{direction} usecs and frames are 0: there would be no interrupt at all"
            raise error(f"{direction}_usecs_ps", message, f"{direction}_frames")


def _check_gro(tree: Tree, kernel: Path, nic: Path, table: Table) -> None:
    """Refuse GRO on a kernel whose model says that it has none."""
    said = tree.provenance[dotted((*kernel, "gro"))].source != DEFAULT
    if tree.get((*nic, "gro")) and said and not tree.get((*kernel, "gro")):
        message = f"GRO is on, Linux {tree.get((*kernel, 'version'))} has none: nic.gro=off"
        raise table.error((*nic, "gro"), "system", message, (*kernel, "gro"), kernel)


def _check_queues(nic: dict[str, Any], error: Callable[..., InputError]) -> None:
    """Refuse queues that the driver cannot have, and indirection tables that no chip has."""
    if nic["moderation"] != "status-blocks":
        for field in ("rx_queues", "tx_queues"):
            if nic[field] > 1:
                message = "several queues only with moderation = status-blocks"
                raise error(field, message, "moderation")
    entries, equal = nic["rss_table_entries"], nic["rss_equal"]
    if entries & (entries - 1):
        raise error("rss_table_entries", f"expected a power of two, got {entries}")
    sorted_to = nic["rx_queues"] - (nic["rss_default_queue"] and nic["rx_queues"] > 1)
    if equal > sorted_to:
        message = f"RSS sorts to {sorted_to} queues: expected 0 to {sorted_to}"
        raise error("rss_equal", message, "rx_queues", "rss_default_queue")
