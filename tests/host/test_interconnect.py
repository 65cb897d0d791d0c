"""What buses, controllers and links carry, what waiting for them costs, and what it slows."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.host.accounting import PROCESS_LEVEL, SYSTEM
from simnet.host.cpu import Occupation
from simnet.host.interconnect import Bandwidths, Included, Interconnect, links_between
from simnet.kernel.simulator import Simulator
from tests.host.parts import NS, make_machine
from tests.house.examples import examples

EPOCH_PS = 10**9
LINE = 128
SQUARE = [(0, 1), (1, 2), (2, 3), (0, 3)]


def make(
    sim: Simulator | None = None,
    *,
    bus: int = 5_330_000_000,
    controller: int = 21_300_000_000,
    link: int = 6_400_000_000,
    included: Included | None = None,
) -> Interconnect:
    """Four nodes in a square, two buses each."""
    return Interconnect(
        sim or Simulator(),
        "host.interconnect",
        4,
        2,
        SQUARE,
        LINE,
        Bandwidths(bus, controller, link),
        included or Included(),
    )


def after_epochs(sim: Simulator, epochs: int = 1) -> None:
    sim.run_until(sim.now + epochs * EPOCH_PS + 1)


class TestWays:
    def test_a_way_has_as_many_links_as_the_shortest_path(self) -> None:
        graph = nx.Graph(SQUARE)
        between = links_between(4, SQUARE)
        for one, other in itertools.product(range(4), repeat=2):
            assert len(between[one][other]) == nx.shortest_path_length(graph, one, other)

    @pytest.mark.parametrize(
        ("node", "carriers"),
        [
            (0, ["node 0 bus 1", "node 0 memory"]),
            (1, ["node 0 bus 1", "node 1 memory", "nodes 0 and 1 link"]),
            (2, ["node 0 bus 1", "node 2 memory", "nodes 0 and 1 link", "nodes 1 and 2 link"]),
        ],
    )
    def test_a_fetch_crosses_bus_links_and_controller(self, node: int, carriers: list[str]) -> None:
        sim = Simulator()
        interconnect = make(sim)
        interconnect.fetch(1, node, 1_000_000, 1)
        after_epochs(sim)
        crossed = [
            name
            for (_, name), size in zip(interconnect.names, interconnect.carried, strict=True)
            if size == 1_000_000
        ]
        assert crossed == carriers
        assert sum(interconnect.carried) == 1_000_000 * len(carriers)

    def test_a_device_crosses_no_bus(self) -> None:
        sim = Simulator()
        interconnect = make(sim)
        interconnect.transfer(3, 0, 500_000)
        after_epochs(sim)
        assert not any(interconnect.carried[: interconnect.buses])
        assert sum(interconnect.carried) == 2 * 500_000  # controller of node 0, link to node 3


class TestWaits:
    @pytest.mark.parametrize("batch", [1, 4])
    @pytest.mark.parametrize("load", [0.2, 0.5, 0.8])
    def test_the_wait_is_that_of_a_queue_with_constant_service(
        self, batch: int, load: float
    ) -> None:
        """Against Lindley's recursion for batches that arrive at random."""
        sim = Simulator()
        interconnect = make(sim, bus=4_000_000_000, controller=0, link=0)
        for _ in range(12):  # until the mean over epochs has settled
            interconnect.fetch(0, 0, int(load * 4_000_000), batch)
            after_epochs(sim)
        service = LINE / 4.0  # ns
        rng = np.random.default_rng(1)
        gaps = rng.exponential(batch * service / load, 400_000)
        steps = batch * service - gaps
        walk = np.concatenate([[0.0], np.cumsum(steps)])
        waits = walk - np.minimum.accumulate(walk)
        assert interconnect.wait_for_memory_ps(0, 0) / 1000 == pytest.approx(
            waits.mean(), rel=0.06, abs=1.0
        )

    def test_what_is_hardly_used_costs_nothing(self) -> None:
        sim = Simulator()
        interconnect = make(sim)
        interconnect.fetch(0, 1, 20_000, 1)  # 20 MB/s
        after_epochs(sim)
        assert interconnect.wait_for_memory_ps(0, 1) == 0
        assert interconnect.version == 0

    def test_waits_end_with_the_load(self) -> None:
        sim = Simulator()
        interconnect = make(sim)
        for _ in range(5):
            interconnect.fetch(0, 0, 4_000_000, 2)
            after_epochs(sim)
        assert interconnect.wait_for_memory_ps(0, 0) > 20 * NS
        after_epochs(sim, 30)
        assert interconnect.wait_for_memory_ps(0, 0) == 0

    def test_more_than_there_is_waits_but_not_for_ever(self) -> None:
        sim = Simulator()
        interconnect = make(sim)
        for _ in range(40):
            interconnect.fetch(0, 0, 50_000_000, 1)
            after_epochs(sim)
        assert interconnect.load_ppm[0] == 949_999  # half-way steps end just below
        assert interconnect.wait_for_memory_ps(0, 0) < 1000 * NS

    @settings(max_examples=examples(200))
    @given(st.lists(st.integers(0, 6_000_000), min_size=2, max_size=2), st.integers(1, 8))
    def test_more_bytes_never_wait_less(self, sizes: list[int], batch: int) -> None:
        waits = []
        for size in sorted(sizes):
            sim = Simulator()
            interconnect = make(sim)
            interconnect.fetch(0, 1, size, batch)
            after_epochs(sim)
            waits.append(interconnect.wait_for_memory_ps(0, 1))
        assert waits[0] <= waits[1]


class TestPace:
    """Work waits for the own node's memory, and takes longer when that answers late."""

    @staticmethod
    def took_ns(included: Included, busy_cpus: int = 1) -> float:
        """How long 100 us of work takes on CPU 0 after 20 epochs of `busy_cpus` at work."""
        sim = Simulator()
        machine = make_machine(sim, sockets_per_node=8)
        interconnect = Interconnect(
            sim, "host.interconnect", 1, 1, [], LINE, Bandwidths(2_000_000_000, 0, 0), included
        )
        interconnect.watch(machine.cpus)
        works = [Occupation(sim, f"work{cpu.cpu_id}") for cpu in machine.cpus]
        busy = list(zip(machine.cpus, works, strict=True))[:busy_cpus]
        for _ in range(40):
            interconnect.transfer(0, 0, LINE)
            for cpu, work in busy:
                cpu.run(PROCESS_LEVEL, work, 250_000 * NS, SYSTEM)
            sim.run_until(sim.now + EPOCH_PS)
        cpu, work = busy[0]
        before = cpu.times()["system_ps"]
        cpu.run(PROCESS_LEVEL, work, 100_000 * NS, SYSTEM)
        sim.run_until(sim.now + EPOCH_PS)
        return float(cpu.times()["system_ps"] - before) / NS

    def test_unloaded_memory_as_in_the_costs_slows_nothing(self) -> None:
        assert self.took_ns(Included(500, 100 * NS, 100 * NS)) == pytest.approx(100_000, rel=0.03)

    def test_slower_memory_slows_the_share_that_waits_for_it(self) -> None:
        assert self.took_ns(Included(500, 100 * NS, 300 * NS)) == pytest.approx(200_000, rel=0.01)
        assert self.took_ns(Included(0, 100 * NS, 300 * NS)) == 100_000

    def test_other_cpus_on_the_bus_slow_it(self) -> None:
        included = Included(500, 100 * NS, 100 * NS)
        alone, crowded = self.took_ns(included), self.took_ns(included, busy_cpus=8)
        assert crowded > 1.05 * alone
