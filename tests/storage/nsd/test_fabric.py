"""The network of a file system: buses, ports in a bond, clients' ports."""

from dataclasses import replace
from typing import Any

import pytest

from simnet.kernel.simulator import Simulator
from simnet.net.fluid.flow import Message, MessageReceiver, new_message
from simnet.storage.nsd.fabric import NsdFabric
from tests.storage.nsd.parts import MIB, whole

READS, WRITES = 1, 0


class Sink(MessageReceiver):
    """Takes messages."""

    def message_arrived(self, message: Message) -> int:  # noqa: ARG002 - any is as good
        return 0


def rates(
    ways: list[tuple[int, int]], way: int, *, seed: int = 1, rate: int = 40, **changes: Any
) -> list[float]:
    """GB/s of each pair of client and server when all send without end."""
    sim = Simulator()
    model = replace(whole(rate_bps=rate * 10**9).fabric, connection_bytes_s=0, **changes)
    fabric = NsdFabric(sim, "net", model, seed)
    sink = Sink(sim, "sink")
    flows = [fabric.pairs[way][client][server] for client, server in ways]
    for flow in flows:
        fabric.flows.send(flow, new_message(64 * MIB, sink, 0, None))
    return [flow.rate_bytes_s / 1e9 for flow in flows]


def test_a_round_trip_is_two_cables_a_switch_and_both_stacks_each_way() -> None:
    def round_trip_ps(*lengths: int) -> int:
        switch, cable, client, server = lengths
        return replace(
            whole().fabric,
            switch_latency_ps=switch,
            cable_delay_ps=cable,
            client_stack_ps=client,
            server_stack_ps=server,
        ).round_trip_ps

    # a segment has to pass two ports of 40 Gbit/s, 200 ps a byte; its acknowledgement is short
    serial_ps = 2 * 200 * whole().fabric.client_port.frame_bytes
    assert round_trip_ps(0, 0, 0, 0) == serial_ps
    assert round_trip_ps(1000, 10, 5, 7) == serial_ps + 2 * (1000 + 2 * 10 + 5 + 7)


@pytest.mark.parametrize("way", [READS, WRITES])
def test_a_port_carries_its_goodput_and_no_more_than_its_bus(way: int) -> None:
    assert rates([(0, 0)], way) == pytest.approx([4.95], abs=0.01)
    # 56 Gbit/s on the line would be 6.93; the bus has the Ethernet header to carry, too
    assert rates([(0, 0)], way, rate=56) == pytest.approx([6.93], abs=0.03)
    assert rates([(0, 0)], way, rate=100) == pytest.approx([6.95], abs=0.01)


@pytest.mark.parametrize("way", [READS, WRITES])
def test_ports_of_one_adapter_share_its_bus(way: int) -> None:
    both = rates([(0, 0), (1, 0)], way, server_adapters=1, adapter_ports=2)
    assert both == pytest.approx([6.95 / 2, 6.95 / 2], abs=0.01)
    assert rates([(0, 0), (1, 0)], way, server_adapters=2) == pytest.approx([4.95] * 2, abs=0.01)


@pytest.mark.parametrize("way", [READS, WRITES])
def test_balance_alb_is_at_least_as_fast_as_any_throw_of_the_hash(way: int) -> None:
    ways = [(client, 0) for client in range(4)]
    even = sum(rates(ways, way))
    hashed = [sum(rates(ways, way, seed=seed, lag_mode="802.3ad")) for seed in range(1, 25)]
    assert even == pytest.approx(3 * 4.95, abs=0.05)
    assert max(hashed) <= even + 0.001
    assert sum(hashed) / len(hashed) < 0.9 * even


def test_one_connection_is_held_to_what_its_threads_carry() -> None:
    sim = Simulator()
    model = replace(whole().fabric, connection_bytes_s=10**9)
    fabric = NsdFabric(sim, "net", model, 1)
    flow = fabric.pairs[READS][0][0]
    fabric.flows.send(flow, new_message(MIB, Sink(sim, "sink"), 0, None))
    assert flow.rate_bytes_s == pytest.approx(10**9, rel=1e-6)


def ways_of(fabric: NsdFabric, client: int, server: int) -> list[list[str]]:
    """Names of the links that lead to a server and back."""
    return [[link.name for link in fabric.pairs[way][client][server].links] for way in (0, 1)]


def test_a_connection_leads_through_the_ports_that_are_its_own() -> None:
    sim = Simulator()
    model = replace(whole().fabric, server_adapters=3, adapter_ports=1)
    fabric = NsdFabric(sim, "net", model, 1)
    for client in range(model.clients):
        for server in range(model.servers):
            there = fabric.lags[server].receive_port(client)
            back = fabric.lags[server].transmit_port(client)
            assert ways_of(fabric, client, server) == [
                [f"client{client}.tx", f"server{server}.port{there}.rx"],
                [f"server{server}.port{back}.tx", f"client{client}.rx"],
            ]
    flows = fabric.connections(to_client=True)
    # by client, then by server
    assert flows == [fabric.pairs[1][c][s] for c in range(model.clients) for s in (0, 1)]
    assert fabric.connections(to_client=False)[0] is fabric.pairs[0][0][0]


def test_the_bus_of_an_adapter_lies_behind_its_ports() -> None:
    sim = Simulator()
    model = replace(whole().fabric, server_adapters=2, adapter_ports=2)
    fabric = NsdFabric(sim, "net", model, 1)
    for client in range(model.clients):
        there = fabric.lags[1].receive_port(client)
        back = fabric.lags[1].transmit_port(client)
        assert ways_of(fabric, client, 1) == [
            [f"client{client}.tx", f"server1.port{there}.rx", f"server1.pcie{there // 2}.rx"],
            [f"server1.pcie{back // 2}.tx", f"server1.port{back}.tx", f"client{client}.rx"],
        ]


def test_goodput_is_the_payload_of_full_segments() -> None:
    port = whole().fabric.client_port
    small = replace(port, rate_bps=10**9, pcie_bps=10**9, mtu_bytes=1500)
    # 52 bytes of headers; preamble, gap, FCS and Ethernet header make 38 on the line, 14 on the bus
    assert small.frame_bytes == 1538
    assert small.goodput_bytes_s == 10**9 * 1448 // (8 * 1538)
    assert small.bus_bytes_s == 10**9 * 1448 // (8 * 1514)
