"""What a cache line costs, by where its last writer and its home are."""

import itertools
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.errors import SimulationError
from simnet.host.cache import CacheWays
from simnet.host.costs import Memory, SharedLines, distances
from simnet.host.interconnect import Bandwidths, Included, Interconnect
from simnet.host.machine import Machine
from simnet.kernel.simulator import Simulator
from tests.host.parts import LINE_BYTES, NS, make_costs, make_machine, make_memory

COSTS = {
    "local_ps": 100 * NS,
    "same_bus_dirty_ps": 125 * NS,
    "same_node_dirty_ps": 175 * NS,
    "remote_ps": 300 * NS,
    "remote_dirty_ps": 500 * NS,
    "hop_ps": 150 * NS,
    "mmio_write_ps": 200 * NS,
    "mmio_hop_ps": 70 * NS,
    "included_ps": 100 * NS,
}


def make() -> Machine:
    """Three nodes in a row, each of two buses with two sockets, cores of two threads."""
    return make_machine(
        Simulator(),
        "host",
        None,
        make_memory(3, None, **COSTS),
        nodes=3,
        sockets_per_node=4,
        buses_per_node=2,
        cores_per_socket=2,
        threads_per_core=2,
    )


class TestTopology:
    def test_cpus_are_numbered_node_by_node_socket_by_socket(self) -> None:
        machine = make()
        assert len(machine.cpus) == 48
        places = [(cpu.node, cpu.bus, cpu.socket) for cpu in machine.cpus]
        assert places == [(n // 16, n // 8, n // 4) for n in range(48)]

    def test_sockets_of_a_node_share_its_buses_evenly(self) -> None:
        def buses(count: int) -> list[int]:
            machine = make_machine(Simulator(), nodes=2, sockets_per_node=4, buses_per_node=count)
            return [cpu.bus for cpu in machine.cpus]

        assert buses(1) == [0] * 4 + [1] * 4
        assert buses(2) == [0, 0, 1, 1, 2, 2, 3, 3]
        # a bus that no socket is on makes no difference
        assert buses(4) == buses(5) == list(range(8))

    def test_threads_of_a_core_are_neighbours(self) -> None:
        for cpu in make().cpus:
            assert cpu.sibling.cpu_id == cpu.cpu_id ^ 1
            assert cpu.sibling.sibling is cpu

    def test_single_threaded_cores_have_none(self) -> None:
        assert make_machine(Simulator(), cores_per_socket=4).cpus[0].sibling is None

    @pytest.mark.parametrize(
        ("nodes", "links", "expected"),
        [
            (1, [], [[0]]),
            (3, [(0, 1), (1, 2)], [[0, 1, 2], [1, 0, 1], [2, 1, 0]]),
            (
                4,
                [(0, 1), (1, 2), (2, 3), (0, 3)],
                [[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]],
            ),
        ],
    )
    def test_distances_count_links(
        self, nodes: int, links: list[tuple[int, int]], expected: list[list[int]]
    ) -> None:
        assert distances(nodes, links) == expected

    def test_nodes_must_be_connected(self) -> None:
        with pytest.raises(SimulationError, match="not all connected"):
            distances(3, [(0, 1)])

    @given(st.integers(1, 7), st.data())
    def test_distances_are_a_metric(self, nodes: int, data: st.DataObject) -> None:
        tree = [(data.draw(st.integers(0, n - 1)), n) for n in range(1, nodes)]
        more = data.draw(st.lists(st.tuples(*[st.integers(0, nodes - 1)] * 2), max_size=5))
        links = tree + [(a, b) for a, b in more if a != b]
        hops = distances(nodes, links)
        for a in range(nodes):
            assert hops[a][a] == 0
            for b in range(nodes):
                assert hops[a][b] == hops[b][a]
                assert (hops[a][b] == 1) == ((a, b) in links or (b, a) in links)
                assert all(hops[a][b] <= hops[a][c] + hops[c][b] for c in range(nodes))

    @given(st.integers(1, 7), st.data())
    def test_distances_are_those_of_the_graph(self, nodes: int, data: st.DataObject) -> None:
        numbers = st.integers(0, nodes - 1)
        links = data.draw(st.lists(st.tuples(numbers, numbers), max_size=12))
        graph = nx.Graph(links)
        graph.add_nodes_from(range(nodes))
        if nx.is_connected(graph):
            found = dict(nx.all_pairs_shortest_path_length(graph))
            assert distances(nodes, links) == [
                [found[a][b] for b in range(nodes)] for a in range(nodes)
            ]
        else:
            with pytest.raises(SimulationError, match="not all connected"):
                distances(nodes, links)


class TestLines:
    @pytest.mark.parametrize(
        ("reader", "owner", "ns"),
        [
            (0, 0, 0),
            (0, 1, 0),  # siblings share their caches
            (0, 2, 125),  # other core, same bus
            (0, 7, 125),  # other socket, same bus
            (0, 8, 175),  # other bus
            (0, 16, 500),  # next node
            (0, 32, 650),  # and one link further
            (47, 0, 650),
        ],
    )
    def test_dirty_in_a_cache(self, reader: int, owner: int, ns: int) -> None:
        machine = make()
        cpus = machine.cpus
        assert machine.memory.dirty_lines_ps(cpus[reader], cpus[owner], 1) == ns * NS

    @pytest.mark.parametrize(
        ("reader", "home", "writer", "ns"),
        [
            (0, 0, 0, 0),
            (0, 1, 1, 200),
            (0, 2, 2, 350),
            # written from afar to memory here: the writer's side is asked too
            (0, 0, 1, 200),
            (0, 0, 2, 350),
            (0, 2, 0, 350),
            (1, 0, 2, 200),
        ],
    )
    def test_written_by_a_device(self, reader: int, home: int, writer: int, ns: int) -> None:
        """The costs of the steps include a line of the own node's memory."""
        machine = make()
        cpu = next(cpu for cpu in machine.cpus if cpu.node == reader)
        assert machine.memory.beyond_ps(cpu, home, writer) == ns * NS

    def test_register_write_pays_each_link(self) -> None:
        memory = make().memory
        assert [memory.mmio_write_ps(0, node) // NS for node in range(3)] == [200, 270, 340]

    @given(st.tuples(*[st.integers(1, 10**7)] * 3), st.integers(0, 2), st.integers(1, 10**6))
    def test_no_latency_makes_a_far_line_cheaper(
        self, latencies: tuple[int, int, int], which: int, more: int
    ) -> None:
        """Neither that of the own node, nor of the next, nor of a hop."""
        names = ("local_ps", "remote_ps", "hop_ps")
        one = dict(zip(names, latencies, strict=True))
        slower = one | {names[which]: one[names[which]] + more}
        cpu = make().cpus[0]
        for home, writer in itertools.product(range(3), repeat=2):
            costs = [
                make_memory(3, None, included_ps=10**5, **ps).beyond_ps(cpu, home, writer)
                for ps in (one, slower)
            ]
            assert 0 <= costs[0] <= costs[1]


class TestSharedLines:
    def test_they_belong_to_who_touched_them_last(self) -> None:
        machine = make()
        lines = SharedLines(machine.memory, 6)
        touches = [(0, 0), (0, 0), (1, 0), (8, 6 * 175), (8, 0), (16, 6 * 500), (0, 6 * 500)]
        for cpu, ns in touches:
            assert lines.touch(machine.cpus[cpu]) == ns * NS
        assert lines.transfers == 3 * 6

    def test_a_sibling_becomes_the_owner_for_nothing(self) -> None:
        machine = make()
        lines = SharedLines(machine.memory, 6)
        lines.touch(machine.cpus[0])
        lines.touch(machine.cpus[1])
        assert lines.transfers == 0
        assert lines.touch(machine.cpus[2]) == 6 * 125 * NS

    @given(st.lists(st.integers(0, 47), min_size=1, max_size=40))
    def test_cost_is_that_of_the_way_from_the_last_owner(self, touches: list[int]) -> None:
        machine = make()
        lines = SharedLines(machine.memory, 4)
        lines.touch(machine.cpus[touches[0]])
        for before, now in itertools.pairwise(touches):
            reader, owner = machine.cpus[now], machine.cpus[before]
            assert lines.touch(reader) == machine.memory.dirty_lines_ps(reader, owner, 4)


SOME_CPUS = (0, 1, 2, 7, 8, 15, 16, 17, 24, 31, 32, 40, 46, 47)
BYTES = 1000


def on_carriers(sim: Simulator, **options: Any) -> tuple[Machine, Memory, Interconnect]:
    """The same machine, whose carriers count what crosses them and are never the limit."""
    interconnect = Interconnect(
        sim, "wires", 3, 2, [(0, 1), (1, 2)], LINE_BYTES, Bandwidths(10**15, 10**15, 10**15),
        Included(),
    )  # fmt: skip
    memory = Memory(distances(3, [(0, 1), (1, 2)]), interconnect=interconnect, **(COSTS | options))
    machine = make_machine(
        sim,
        "host",
        make_costs(copy_overlap=4),
        memory,
        nodes=3,
        sockets_per_node=4,
        buses_per_node=2,
        cores_per_socket=2,
        threads_per_core=2,
    )
    return machine, memory, interconnect


def crossed(sim: Simulator, interconnect: Interconnect) -> dict[str, int]:
    """What each carrier has had to do until now."""
    sim.run_until(sim.now + 10**9)
    found = zip(interconnect.names, interconnect.carried, strict=True)
    return {name: size for (_, name), size in found if size}


class TestWholeMachine:
    def test_every_two_cpus(self) -> None:
        machine = make()
        for reader, owner in itertools.product(SOME_CPUS, repeat=2):
            links = abs(reader // 16 - owner // 16)
            if reader // 2 == owner // 2:
                ns = 0
            elif reader // 8 == owner // 8:
                ns = 125
            else:
                ns = 500 + 150 * (links - 1) if links else 175
            took = machine.memory.dirty_lines_ps(machine.cpus[reader], machine.cpus[owner], 3)
            assert took == 3 * ns * NS

    def test_every_three_nodes(self) -> None:
        machine = make()
        load = [100, 300, 450]
        for reader, home, writer in itertools.product(range(3), repeat=3):
            cpu = machine.cpus[16 * reader + 3]
            ns = max(load[abs(reader - home)], load[abs(reader - writer)]) - 100
            assert machine.memory.beyond_ps(cpu, home, writer) == ns * NS
        for cpu_node, device in itertools.product(range(3), repeat=2):
            ns = 200 + 70 * abs(cpu_node - device)
            assert machine.memory.mmio_write_ps(cpu_node, device) == ns * NS

    @pytest.mark.parametrize("cached", [False, True])
    def test_a_copy_waits_for_what_is_far_or_lost_and_books_it(self, *, cached: bool) -> None:
        load = [100, 300, 450]
        lines = -(-BYTES // LINE_BYTES)
        for reader, home, writer in itertools.product(range(3), repeat=3):
            sim = Simulator()
            machine, memory, interconnect = on_carriers(sim)
            cpu = machine.cpus[16 * reader + 9]
            cache = CacheWays(64 * 1024, 2, 80 * NS) if cached else None
            if cache is not None:
                cache.waiting = 40_000
            took = memory.received_ps(
                cpu,
                machine.costs,
                cache,  # type: ignore[arg-type]  # Cython takes None
                BYTES,
                home,
                writer,
            )
            far = max(load[abs(reader - home)], load[abs(reader - writer)]) - 100
            moved = 0
            if cache is None:
                ns, kind, moved = lines * far // 4, "copy_lines", BYTES
            elif home != reader:
                ns, kind, moved = lines * (far + 80) // 4, "copy_lines", lines * LINE_BYTES
            else:
                lost = cache.lost_permille() if writer == reader else 1000
                ns, kind = lines * lost // 1000 * 80 // 4, "copy_misses"
            assert took == ns * NS
            booked = {name: ps for name, ps in machine.costs.ledger.work().items() if ps}
            assert booked == ({kind: ns * NS} if ns else {})
            carried = crossed(sim, interconnect)
            if home == reader:
                assert carried == {}
            else:
                low, high = sorted((reader, home))
                ways = [f"nodes {n} and {n + 1} link" for n in range(low, high)]
                names = {f"node {reader} bus 1", f"node {home} memory", *ways}
                assert carried == dict.fromkeys(names, moved)
                assert set(interconnect.batch) == {0, 4}

    def test_lines_and_devices_cross_what_lies_between(self) -> None:
        sim = Simulator()
        machine, memory, interconnect = on_carriers(sim)
        memory.dirty_lines_ps(machine.cpus[0], machine.cpus[8], 5)
        memory.dirty_lines_ps(machine.cpus[0], machine.cpus[1], 5)
        memory.transferred(2, 1, 700)
        assert crossed(sim, interconnect) == {
            "node 0 bus 0": 5 * LINE_BYTES,
            "node 0 bus 1": 5 * LINE_BYTES,
            "node 1 memory": 700,
            "nodes 1 and 2 link": 700,
        }

    def test_memory_that_is_quicker_than_the_costs_know_is_no_gain(self) -> None:
        _, memory, _ = on_carriers(Simulator(), included_ps=350 * NS)
        cpu = make().cpus[0]
        assert [memory.beyond_ps(cpu, node, node) // NS for node in range(3)] == [0, 0, 100]
        # nor is another node's memory quicker than the own
        _, memory, _ = on_carriers(Simulator(), remote_ps=50 * NS, hop_ps=10 * NS)
        assert [memory.beyond_ps(cpu, node, node) // NS for node in range(3)] == [0, 0, 10]
