"""Addresses and ports of the streams between the system and its peers, and rules that meet none."""

import ipaddress
from collections.abc import Iterator
from typing import Any, Final

from simnet.scenario.core.checks import peer_ports
from simnet.scenario.core.places import ranges
from simnet.scenario.core.subject import Need, setup_of
from simnet.scenario.core.tree import Path, Table, Tree
from simnet.scenario.parts.nic.flow_steering import matches, rule_of

_OWN_NETWORK: Final = 0x0A000000
_NETSERVER_PORT: Final = 12865
# net.ipv4.ip_local_port_range
_FIRST_LOCAL_PORT: Final = 32768
# both ends of a connection, as measured: what a build of so many more has taken
_CONNECTION_BYTES: Final = 256 << 10
_CONNECTION_PS: Final = 10**9


def sent_addresses(port: int, number: int, *, receives: bool) -> tuple[int, int, int, int]:
    """Return source and destination address, source and destination port of what the system sends.

    Args:
        port: number of its port.
        number: of the stream among those of the port, from 0.
        receives: the system is netserver, else netperf.
    """
    own, far = _OWN_NETWORK + (port << 8) + 1, _OWN_NETWORK + (port << 8) + 2
    local = _FIRST_LOCAL_PORT + number
    ports = (_NETSERVER_PORT, local) if receives else (local, _NETSERVER_PORT)
    return own, far, *ports


def check_flow_rules(tree: Tree, table: Table) -> None:
    """Refuse a flow rule of a port that receives no such flow.

    Raises:
        InputError: at the rules.
    """
    for place, flows in _received(tree):
        port = tree.get(place)
        for rule in port["nic"].get("flow_rules", ()):
            meant = rule_of(rule)
            if not port["enslaved"] and not any(matches(meant, flow) for flow in flows):
                message = f"{port['name']} receives no such flow: {rule}; it has {_shown(flows)}"
                raise table.error((*place, "nic", "flow_rules"), "system", message)


def needs(tree: Tree) -> Iterator[Need]:
    """Yield what the connections of all ports take."""
    workload = tree.get(("workload",))
    if setup_of(workload["test"], tree.values.__contains__) is None:
        count = sum(len(flows) for place, flows in _received(tree) if place[0] == "host")
        field = max(("connections", "short_flows"), key=workload.__getitem__)
        other = {"connections", "short_flows", "nodes"} - {field}
        yield Need(
            ("workload", field),
            workload[field],
            count,
            "connections",
            _CONNECTION_BYTES,
            _CONNECTION_PS,
            tuple(("workload", name) for name in sorted(other)),
        )


def _received(tree: Tree) -> Iterator[tuple[Path, list[tuple[int, int, int, int]]]]:
    """Yield the place of each port with traffic, and the flows that it receives."""
    workload, ends = tree.get(("workload",)), peer_ports(tree)
    both = workload["test"] == "bidirectional"
    directions = (True, False) if both else (workload["test"] == "netserver",)
    receives = [way for way in directions for _ in range(workload["connections"])]
    receives += [False] * workload["short_flows"]
    nodes: set[int] = set()
    for number, port in enumerate(tree.get(("host", "ports"))):
        if port["node"] >= workload["nodes"] or (both and port["node"] in nodes):
            continue
        nodes.add(port["node"])
        sent = [sent_addresses(number, flow, receives=way) for flow, way in enumerate(receives)]
        peer, far = ends[number]
        yield ("host", "ports", number), [(b, a, d, c) for a, b, c, d in sent]
        yield ("peers", peer, "ports", far), sent


def _shown(flows: list[tuple[int, int, int, int]]) -> str:
    source, destination = (ipaddress.IPv4Address(address) for address in flows[0][:2])
    found: Any = [sorted({flow[place] for flow in flows}) for place in (2, 3)]
    src_ports, dst_ports = map(ranges, found)
    addresses = f"src-ip {source} dst-ip {destination}"
    return f"{addresses} src-port {src_ports} dst-port {dst_ports}"
