"""What receiving datagrams needs, and which settings sockets of UDP alone read."""

from collections.abc import Iterator
from typing import Final

from simnet.host.release import release
from simnet.net.udp.rules import FIRST
from simnet.scenario.core.checks import asks_for
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.places import Places
from simnet.scenario.core.subject import Need, ways
from simnet.scenario.core.tree import Path, Table, Tree
from simnet.scenario.parts.nic.schema import UDP_HEADERS_BYTES, Nic

# as measured: what a build of so many more has taken
_FLOW_BYTES: Final = 3 << 10
_FLOW_PS: Final = 30 * 10**6
SERVE: Final = "udp_serve"
"""The test whose workers answer."""
_SENT: Final = {"udp_rr": ("request_bytes", "response_bytes"), "udp_send": ("message_bytes",)}
_OF_SOCKETS: Final = {
    "rmem_default_bytes": "it is for sockets of UDP: TCP's begin with the second of tcp_rmem",
    "udp_mem_pages": "it is for sockets of UDP",
}
_SENDS: Final = "it is for sockets of UDP that send: TCP's begin with the second of tcp_wmem"


def check_udp(tree: Tree, table: Table) -> None:
    """Refuse a load without its table, its peer or its CPUs, and what is not modelled of UDP."""
    path: Path = ("workload", "test")
    for test in _SENT:
        if asks_for(tree, table, test, "datagrams"):
            _check_datagrams(tree, table, test)
    serves = asks_for(tree, table, SERVE, "udp")
    if not serves and not asks_for(tree, table, "udp_stream", "udp"):
        return
    if len(tree.get(("peers",))) != 1:
        message = f"{tree.get(path)}: expected one peer, which stands for the senders"
        raise table.error(path, "workload.test", message)
    given = tree.get(("udp",))
    if bool(given["rate"]) == bool(given["bit_rate_bps"]):
        message = "expected either rate or bit_rate"
        raise table.error(("udp", "rate"), "udp.rate", message, ("udp", "bit_rate_bps"))
    _check_room(tree, table, ("host",), 0, ("udp", "size_bytes"), "udp.size")
    if serves:
        _check_answers(tree, table)
    if given["reuseport_program"] != "hash" and not given["reuseport"]:
        message = "a program chooses among sockets that share a port: expected reuseport = true"
        key, place = "udp.reuseport_program", ("udp", "reuseport")
        raise table.error(("udp", "reuseport_program"), key, message, place)
    cpus = Places(tree).cpu_count(("host",))
    last = given["first_cpu"] + given["workers"] - 1
    if given["placement"] == "pinned" and last >= cpus:
        message = f"workers run on CPUs up to {last}, the system has 0 to {cpus - 1}"
        raise table.error(("udp", "first_cpu"), "udp", message, ("udp", "workers"))


def _check_answers(tree: Tree, table: Table) -> None:
    """Refuse answers without a size or a cost."""
    for field, key in (("answer_bytes", "udp.answer"), ("sendmsg_cycles", "udp.sendmsg")):
        if not tree.get(("udp", field)):
            message = f"{SERVE} sends answers: expected more than 0"
            raise table.error(("udp", field), key, message)
    _check_room(tree, table, ("host",), 0, ("udp", "answer_bytes"), "udp.answer")


def _check_datagrams(tree: Tree, table: Table, test: str) -> None:
    """Refuse what is not modelled of datagrams between hosts."""
    path: Path = ("workload", "test")
    workload = tree.get(("workload",))
    if any(way.part in tree.values for way in ways()):
        message = f"{test}: expected hosts with Ethernet between them"
        raise table.error(path, "workload.test", message)
    for field in ("writes_bytes", "short_flows", "think_ps"):
        if workload[field]:
            place: Path = ("workload", field)
            name = field.removesuffix("_bytes").removesuffix("_ps")
            raise table.error(
                place, f"workload.{name}", f"{test} has none: expected it not to be set"
            )
    places: list[Path] = [("host",), *(("peers", n) for n in range(len(tree.get(("peers",)))))]
    for place in places:
        for port in range(len(tree.get((*place, "ports")))):
            for field in _SENT[test]:
                _check_room(tree, table, place, port, ("workload", field), f"workload.{field[:-6]}")


def _check_room(tree: Tree, table: Table, host: Path, port: int, path: Path, key: str) -> None:
    """Refuse datagrams that do not fit into a packet."""
    place = (*host, "ports", port, "nic", "mtu_bytes")
    room = tree.get(place) - UDP_HEADERS_BYTES
    if tree.get(path) > room:
        message = f"a packet has room for {room} B, and fragments are not modelled"
        raise table.error(path, key, message, place)


def check_host(tree: Tree, host: Path, table: Table) -> None:
    """Refuse drivers and kernels of which is not known what they do with datagrams."""
    path: Path = ("workload", "test")
    test = tree.get(path)
    from_afar = test in {"udp_stream", SERVE}
    if (test not in _SENT and not from_afar) or (from_afar and host != ("host",)):
        return
    # datagrams from afar come by the first port
    ports = (0,) if from_afar else range(len(tree.get((*host, "ports"))))
    for port in ports:
        nic = tree.get((*host, "ports", port, "nic"))
        if not Nic.variants()[nic["driver"]].charges(nic):
            known = sorted(name for name, one in Nic.variants().items() if one.charges_datagrams)
            called = nic.get("stands_in_for") or nic["driver"]
            message = f"what {called} has a datagram charged with is not known: expected one of"
            raise table.error(path, "workload.test", f"{message} {', '.join(known)}")
    kernel = tree.get((*host, "kernel"))
    if kernel["system"] != "linux" or release(kernel["version"]) < FIRST:
        message = f"UDP of {kernel['system']} {kernel['version']} is not modelled: Linux 4.10 on"
        raise table.error(path, "workload.test", message, (*host, "kernel"))


def needs(tree: Tree) -> Iterator[Need]:
    """Yield what the flows take."""
    if "udp" in tree.values:
        place, count = ("udp", "flows"), tree.get(("udp", "flows"))
        yield Need(place, count, count, "flows", _FLOW_BYTES, _FLOW_PS)


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    if effective.udp is not None and effective.workload.test not in {"udp_rr", "udp_send", SERVE}:
        for field in ("answer_bytes", "batch", "sendmsg_cycles", "lock_cycles"):
            yield f"udp.{field}", "nobody answers"


def unused(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing of this load reads, and why."""
    hosts = [f"peers[{number}]" for number in range(len(effective.peers))]
    if effective.workload.test in {"udp_rr", "udp_send"}:
        return
    serves = effective.workload.test == SERVE
    for host in hosts if serves else (*hosts, "host"):
        yield f"{host}.kernel.wmem_default_bytes", _SENDS
    if effective.udp is None:
        hosts.append("host")
        yield "host.machine.memory_per_node_bytes", "it limits what sockets of UDP may have"
    for host in hosts:
        for field, why in _OF_SOCKETS.items():
            yield f"{host}.kernel.{field}", why
