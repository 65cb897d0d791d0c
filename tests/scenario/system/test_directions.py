"""Which way streams go: to the system, from it, or both at the first port of each node."""

from typing import Any

import pytest

from simnet.errors import InputError
from simnet.scenario.core.effective import Flow
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

SCENARIO = "x460-out-of-box"


def flows(test: str, **settings: str) -> tuple[Flow, ...]:
    return load(SCENARIO, settings={"test": test} | settings).flows


def test_netserver_receives_and_netperf_sends_at_every_port() -> None:
    for test, receives in (("netserver", True), ("netperf", False)):
        found = flows(test, nodes="2")
        assert [flow.name for flow in found] == ["eth0", "eth1", "eth2", "eth3"]
        assert {flow.receives for flow in found} == {receives}


@pytest.mark.parametrize("nodes", [1, 2, 4])
def test_bidirectional_is_both_at_the_first_port_of_each_node(nodes: int) -> None:
    found = flows("bidirectional", nodes=str(nodes))
    expected = [
        (f"eth{port}.{role}", port, role == "netserver")
        for port in range(0, 2 * nodes, 2)
        for role in ("netserver", "netperf")
    ]
    assert [(flow.name, flow.port, flow.receives) for flow in found] == expected
    ports = load(SCENARIO).ports
    assert [ports[flow.port].node for flow in found] == sorted([*range(nodes), *range(nodes)])


def test_a_port_is_cabled_to_the_same_peer_whatever_the_direction() -> None:
    cables = {flow.port: (flow.peer, flow.peer_port) for flow in flows("netserver")}
    for test in ("netperf", "bidirectional"):
        assert all((flow.peer, flow.peer_port) == cables[flow.port] for flow in flows(test))


def test_recv_asks_for_the_receive_buffer_of_the_end_that_receives() -> None:
    settings = {"net.ipv4.tcp_rmem": "4096 65536 174760"}
    found = flows("bidirectional", nodes="1", **settings)
    (default,) = {flow.recv_bytes for flow in flows("netperf")}
    assert {flow.receives: flow.recv_bytes for flow in found} == {True: 65_536, False: default}
    told = flows("bidirectional", recv_size="16 KiB")
    assert {flow.recv_bytes for flow in told} == {16_384}


def test_both_processes_of_a_port_are_bound_to_its_node() -> None:
    found = flows("bidirectional", **{"numactl --cpubind": "nic"})
    assert [flow.cpubind_node for flow in found] == [0, 0, 1, 1, 2, 2, 3, 3]


def test_what_does_not_exist_is_an_error_that_names_what_does() -> None:
    with pytest.raises(InputError, match="bidirectional"):
        flows("both")


@pytest.mark.parametrize("peers", ["ends", "machines"])
@pytest.mark.parametrize(
    ("test", "processes"),
    [
        ("netperf", {"eth0.netperf", "eth1.netperf"}),
        ("bidirectional", {"eth0.netserver.netserver", "eth0.netperf.netperf"}),
    ],
)
def test_the_system_runs_the_processes_that_the_test_says(
    test: str, processes: set[str], peers: str
) -> None:
    settings = {"test": test, "nodes": "1", "peers_simulated": peers}
    system = build(load(SCENARIO, settings=settings), seed=1)
    parts: dict[str, Any] = system.env.sim.components
    mine = {
        path.removeprefix("flow.")
        for path, part in parts.items()
        if getattr(part, "scheduler", None) is system.machine.scheduler and path.startswith("flow.")
    }
    assert mine == processes
