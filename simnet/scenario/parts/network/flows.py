"""Which streams there are between the ports of the system and those of its peers."""

import itertools
from collections.abc import Mapping
from typing import Any

from simnet.scenario.core.checks import peer_ports
from simnet.scenario.core.files import REQUEST_TESTS
from simnet.scenario.core.settings import Settings
from simnet.scenario.core.subject import setup_of


def _receive_buffer(kernel: Mapping[str, Any]) -> int:
    """What netserver asks for per recv: the buffer of a socket that has no connection yet."""
    if kernel["system"] == "aix":
        return int(kernel["tcp_recvspace_bytes"])
    return int(kernel["tcp_rmem_bytes"][1])


def flows(settings: Settings) -> list[dict[str, Any]]:
    """Return one stream for each port on the nodes that carry traffic.

    The bidirectional test has two on the first port of each node, and none on the others; in
    tests of requests messages are these, and what is received are responses. With several
    connections there are as many of each. Flows of requests beside them come last.
    """
    tree = settings.tree
    workload = tree.get(("workload",))
    if setup_of(workload["test"], tree.values.__contains__):
        return []
    both = workload["test"] == "bidirectional"
    request_bytes = sum(workload["writes_bytes"]) or workload["request_bytes"]
    ends = peer_ports(tree)
    streams: list[dict[str, Any]] = []
    short: list[dict[str, Any]] = []
    nodes = set()
    for number, port in enumerate(tree.get(("host", "ports"))):
        if port["node"] >= workload["nodes"] or (both and port["node"] in nodes):
            continue
        nodes.add(port["node"])
        bindings = {
            name: port["node"] if place == "nic" else None if place == "any" else place
            for name, place in settings.kept["bindings"].items()
        }
        tests = ("netserver", "netperf") if both else (workload["test"],)
        count = workload["connections"]
        short += [
            {
                "name": f"{port['name']}.short.{flow}",
                "port": number,
                "peer": ends[number][0],
                "peer_port": ends[number][1],
                "receives": False,
                "message_bytes": request_bytes,
                "recv_bytes": workload["response_bytes"],
                "asks": True,
                **bindings,
            }
            for flow in range(workload["short_flows"])
        ]
        for test, stream in itertools.product(tests, range(count)):
            receiver = ("host",) if test == "netserver" else ("peers", ends[number][0])
            asks = test in REQUEST_TESTS
            streams.append(
                {
                    "name": f"{port['name']}{f'.{test}' * both}{f'.{stream}' * (count > 1)}",
                    "port": number,
                    "peer": ends[number][0],
                    "peer_port": ends[number][1],
                    "receives": test == "netserver",
                    "message_bytes": request_bytes if asks else workload["message_bytes"],
                    "recv_bytes": workload["response_bytes" if asks else "recv_size_bytes"]
                    or _receive_buffer(tree.get((*receiver, "kernel"))),
                    **bindings,
                }
            )
    return streams + short
