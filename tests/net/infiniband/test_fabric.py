"""The InfiniBand fabric: routes, cut-through, queues, and packets that overtake others."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.kernel.simulator import Simulator
from simnet.net.infiniband.fabric import Fabric, FabricPath, fat_tree, switch_graph
from tests.host.parts import MS, NS, US
from tests.net.parts import Far, Sink, frame

# at 8 Gbit/s a byte takes 1 ns
RATE = 8 * 10**9
BYTE = NS


class Net:
    """A fabric whose hosts are addressed by number; frames just pile up at the far ends."""

    def __init__(self, graph: nx.Graph[str], **options: Any) -> None:
        self.sim = Simulator()
        self.sink = Sink(self.sim)
        usual = {"rate_bps": RATE, "propagation_ps": 10 * NS, "latency_ps": 100 * NS}
        self.fabric = Fabric(self.sim, "fabric", graph, **(usual | options))
        self.free_ps: Counter[int] = Counter()
        self.paths: dict[tuple[int, int], FabricPath] = {}
        self.far: dict[int, Far] = {}

    def send(self, source: int, destination: int, seq: int, size: int = 1000, at: int = 0) -> None:
        """Serialise a packet at the source, at `at` or when the source is free."""
        if destination not in self.far:
            self.far[destination] = Far(self.sim, f"far{destination}")
        if (source, destination) not in self.paths:
            self.paths[source, destination] = self.fabric.connect(
                f"host{source}", f"host{destination}", self.far[destination]
            )
        end = max(at, self.free_ps[source]) + size * BYTE
        self.free_ps[source] = end
        self.paths[source, destination].send(frame(self.sink, seq, wire_bytes=size), end)

    def arrived(self, destination: int, until_ps: int = 10 * MS) -> list[tuple[int, int]]:
        self.sim.run_until(until_ps)
        queue = self.far[destination].incoming
        return [(skb.arrival_ps, skb.seq) for skb in (queue.pop() for _ in range(queue.count))]


LINE = switch_graph([(0, 1)], [0, 1])


class TestOneRoute:
    def test_cut_through_serialises_once(self) -> None:
        net = Net(LINE)
        net.send(0, 1, 0)
        # three cables, two switches, the packet's length once
        assert net.arrived(1) == [(3 * 10 * NS + 2 * 100 * NS + 1000 * BYTE, 0)]

    def test_a_head_does_not_arrive_before_it_was_sent(self) -> None:
        net = Net(LINE, rate_bps=RATE // 4)
        # the device sends four times as fast as its link
        net.send(0, 1, 0, at=5 * US)
        net.sim.run_until(5 * US)
        net.paths[0, 1].send(frame(net.sink, 1, wire_bytes=1000), 5 * US + 1000 * BYTE)
        (first, _), (second, _) = net.arrived(1)
        assert second >= first
        assert second >= 5 * US + 3 * 10 * NS + 2 * 100 * NS

    def test_store_and_forward_serialises_at_every_link(self) -> None:
        net = Net(LINE, cut_through=False)
        net.send(0, 1, 0)
        assert net.arrived(1) == [(3 * 10 * NS + 2 * 100 * NS + 3 * 1000 * BYTE, 0)]

    def test_a_long_packet_that_comes_by_a_slow_link_leaves_as_slowly(self) -> None:
        graph = switch_graph([(0, 1)], [0, 1])
        graph["switch0"]["switch1"]["rate_bps"] = RATE // 4
        net = Net(graph)
        net.send(0, 1, 0)
        assert net.arrived(1) == [(3 * 10 * NS + 2 * 100 * NS + 4 * 1000 * BYTE, 0)]

    def test_packets_queue_at_a_slow_link(self) -> None:
        graph = switch_graph([(0, 1)], [0, 1])
        graph["switch0"]["switch1"]["rate_bps"] = RATE // 4
        net = Net(graph)
        for seq in range(4):
            net.send(0, 1, seq)
        times = [time for time, _ in net.arrived(1)]
        assert [b - a for a, b in itertools.pairwise(times)] == [4000 * BYTE] * 3
        assert net.fabric.links["switch0", "switch1"].longest_ps == 3 * 3000 * BYTE

    def test_hosts_may_be_cabled_to_each_other(self) -> None:
        graph: nx.Graph[str] = nx.Graph([("host0", "host1")])
        net = Net(graph)
        net.send(0, 1, 0)
        assert net.arrived(1) == [(1000 * BYTE + 10 * NS, 0)]

    def test_both_directions_are_independent(self) -> None:
        net = Net(LINE)
        net.send(0, 1, 0)
        net.send(1, 0, 1)
        assert net.arrived(0) == [(1230 * NS, 1)]
        assert net.arrived(1) == [(1230 * NS, 0)]

    def test_two_hosts_share_what_leads_to_a_third(self) -> None:
        net = Net(switch_graph([], [0, 0, 0]))
        for source in (0, 1):
            for seq in range(10):
                net.send(source, 2, seq)
        last, _ = net.arrived(2)[-1]
        assert last == 10 * NS + 100 * NS + 20 * 1000 * BYTE + 10 * NS


class TestRoutes:
    def test_a_forwarding_table_spreads_destinations_and_keeps_each_in_order(self) -> None:
        net = Net(fat_tree(leaves=2, spines=4, hosts_per_leaf=4))
        for host in range(4):
            for seq in range(50):
                net.send(host, 4 + host, seq)
        for host in range(4):
            assert [seq for _, seq in net.arrived(4 + host)] == list(range(50))
        used = [net.fabric.links["switch0", f"switch{spine}"].packets for spine in range(2, 6)]
        assert used == [50, 50, 50, 50]

    def test_sources_agree_on_the_way_to_a_destination(self) -> None:
        net = Net(fat_tree(leaves=2, spines=4, hosts_per_leaf=2))
        net.send(0, 2, 0)
        net.send(1, 2, 1)
        net.arrived(2)
        used = [net.fabric.links["switch0", f"switch{spine}"].packets for spine in range(2, 6)]
        assert sorted(used) == [0, 0, 0, 2]

    def test_adaptive_routing_takes_the_link_with_the_least_in_front(self) -> None:
        # four hosts send as fast as they can to four others: one uplink each is enough
        net = Net(fat_tree(leaves=2, spines=4, hosts_per_leaf=4), routing="adaptive")
        for seq in range(100):
            for host in range(4):
                net.send(host, 4 + host, seq)
        net.sim.run_until(MS)
        used = [net.fabric.links["switch0", f"switch{spine}"].packets for spine in range(2, 6)]
        assert sum(used) == 400
        assert max(link.longest_ps for link in net.fabric.links.values()) <= 2000 * BYTE

    def test_links_that_are_equal_are_drawn(self) -> None:
        net = Net(fat_tree(leaves=2, spines=4, hosts_per_leaf=1), routing="adaptive")
        for seq in range(400):
            net.send(0, 1, seq, at=seq * 10 * US)
        net.sim.run_until(5 * MS)
        used = [net.fabric.links["switch0", f"switch{spine}"].packets for spine in range(2, 6)]
        assert sum(used) == 400
        assert min(used) > 70

    def test_random_routing_uses_all(self) -> None:
        net = Net(fat_tree(leaves=2, spines=4, hosts_per_leaf=1), routing="random")
        for seq in range(400):
            net.send(0, 1, seq)
        net.sim.run_until(MS)
        used = [net.fabric.links["switch0", f"switch{spine}"].packets for spine in range(2, 6)]
        assert sum(used) == 400
        assert min(used) > 60

    def test_routes_of_unequal_length_reorder(self) -> None:
        # one hop from 0 to 1, or two by way of 2
        graph = switch_graph([(0, 1), (0, 2), (2, 1)], [0, 1])
        net = Net(graph, routing="random", routes=2)
        for seq in range(200):
            net.send(0, 1, seq, size=64)
        order = [seq for _, seq in net.arrived(1)]
        assert sorted(order) == list(range(200))
        assert order != sorted(order)
        assert Net(graph, routing="deterministic", routes=2).fabric._routes("host0", "host1") == [
            ["host0", "switch0", "switch1", "host1"]
        ]

    def test_equal_routes_without_anybody_else_keep_the_order(self) -> None:
        net = Net(fat_tree(leaves=2, spines=4, hosts_per_leaf=1), routing="adaptive")
        for seq in range(200):
            net.send(0, 1, seq)
        assert [seq for _, seq in net.arrived(1)] == list(range(200))

    def test_other_jobs_reorder_what_takes_several_routes(self) -> None:
        orders = []
        for routing in ("deterministic", "adaptive"):
            net = Net(
                fat_tree(leaves=2, spines=4, hosts_per_leaf=1),
                routing=routing,
                background_permille=400,
                background_bytes=8000,
            )
            for seq in range(500):
                net.send(0, 1, seq)
            orders.append([seq for _, seq in net.arrived(1)])
            assert sorted(orders[-1]) == list(range(500))
        assert orders[0] == sorted(orders[0])
        assert orders[1] != sorted(orders[1])


class TestBackground:
    @pytest.mark.parametrize("gap_us", [30, 3000])
    def test_a_packet_waits_as_long_as_pollaczek_and_khinchine_say(self, gap_us: int) -> None:
        """M/D/1 at 0.5 with a service of 2 us: 1 us in the mean.

        At the short distance queues are simulated throughout, at the long one they are drawn.
        """
        net = Net(LINE, background_permille=500, background_bytes=2000)
        count = 4000
        for seq in range(count):
            net.send(0, 1, seq, size=1, at=seq * gap_us * US)
        net.sim.run_until(count * gap_us * US + MS)
        link = net.fabric.links["switch0", "switch1"]
        assert link.waited_ps / count == pytest.approx(US, rel=0.1)
        assert net.fabric.links["host0", "switch0"].waited_ps == 0

    def test_the_same_seed_gives_the_same(self) -> None:
        def run(seed: int) -> list[tuple[int, int]]:
            net = Net(
                fat_tree(leaves=2, spines=3, hosts_per_leaf=1),
                routing="adaptive",
                background_permille=300,
                background_bytes=4000,
                seed=seed,
            )
            for seq in range(100):
                net.send(0, 1, seq)
            return net.arrived(1)

        assert run(1) == run(1)
        assert run(1) != run(2)


class TestBadInput:
    def test_a_routing_that_is_not_known(self) -> None:
        with pytest.raises(ValueError, match="fabric: routing 'adaptve' is not one of"):
            Net(LINE, routing="adaptve")

    def test_a_background_that_fills_the_links(self) -> None:
        with pytest.raises(ValueError, match="no background of 1000 permille"):
            Net(LINE, background_permille=1000, background_bytes=1)

    @pytest.mark.parametrize("name", ["host9", "switch0"])
    def test_what_is_no_host(self, name: str) -> None:
        net = Net(LINE)
        with pytest.raises(ValueError, match=f"'{name}' is no host"):
            net.fabric.connect(name, "host1", Far(net.sim))

    def test_no_way(self) -> None:
        net = Net(switch_graph([(0, 1), (2, 3)], [0, 3]))
        with pytest.raises(ValueError, match="no way from 'host0' to 'host1'"):
            net.fabric.connect("host0", "host1", Far(net.sim))


PACKETS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 4000), st.integers(0, 20)),
    max_size=40,
)


@given(
    PACKETS,
    st.sampled_from(["deterministic", "adaptive", "random"]),
    st.booleans(),
    st.integers(0, 200),
    st.sampled_from([0, 300]),
)
def test_every_packet_is_somewhere(
    packets: list[tuple[int, int, int, int]],
    routing: str,
    cut_through: bool,  # noqa: FBT001
    look_us: int,
    background: int,
) -> None:
    """Sent = delivered + in flight whenever one looks; arrivals are in order, and not too soon."""
    outcomes = []
    for per_frame in (False, True):
        net = Net(
            fat_tree(leaves=2, spines=2, hosts_per_leaf=2),
            routing=routing,
            cut_through=cut_through,
            background_permille=background,
            background_bytes=1000,
            per_frame=per_frame,
        )
        soonest = {}
        sent = 0
        for seq, (source, destination, size, gap_us) in enumerate(packets):
            if source == destination:
                continue
            at = net.free_ps[source] + gap_us * US
            net.send(source, destination, seq, size, at)
            soonest[seq] = net.free_ps[source]
            sent += 1
        net.sim.run_until(look_us * US)
        delivered = sum(path.delivered for path in net.paths.values())
        assert sent == delivered + net.fabric.in_flight
        arrived = {host: net.arrived(host) for host in sorted(net.far)}
        assert net.fabric.in_flight == 0
        for times in arrived.values():
            assert times == sorted(times)
            assert all(time > soonest[seq] for time, seq in times)
        assert sorted(seq for times in arrived.values() for _, seq in times) == sorted(soonest)
        outcomes.append(arrived)
    assert outcomes[0] == outcomes[1]
