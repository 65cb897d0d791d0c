"""The interconnect beside its algorithm, written down once more with names in place of numbers."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.host.accounting import PROCESS_LEVEL, SYSTEM
from simnet.host.interconnect import Bandwidths, Included, Interconnect
from simnet.kernel.simulator import Simulator
from tests.host.parts import Job, make_machine

EPOCH_PS = 10**9
MILLION = 10**6
HALF_NS = 500

# nodes, buses of a node, links
LAYOUTS = [(1, 1, []), (3, 1, [(0, 1), (1, 2)]), (4, 2, [(0, 1), (1, 2), (2, 3), (0, 3)])]
RATES = st.sampled_from([0, 1_000_000_000, 3_300_000_000, 21_300_000_000])


class Reference:
    """What each carrier had to do in the epoch, and what waiting for it takes in the next."""

    def __init__(
        self,
        nodes: int,
        buses: int,
        links: Sequence[tuple[int, int]],
        line: int,
        bandwidths: Bandwidths,
        included: Included,
    ) -> None:
        self.line, self.buses, self.included = line, buses, included
        self.ways: Any = nx.Graph()
        self.ways.add_nodes_from(range(nodes))
        self.ways.add_edges_from(links)
        self.rates: dict[tuple[object, ...], int] = {
            ("bus", bus): bandwidths.bus for bus in range(nodes * buses)
        }
        self.rates |= {("memory", node): bandwidths.controller for node in range(nodes)}
        self.rates |= {("link", *sorted(pair)): bandwidths.link for pair in links}
        self.bytes, self.batched, self.carried = Counter(), Counter(), Counter()  # type: ignore[var-annotated]
        self.load, self.batch, self.wait = Counter(), Counter(), Counter()  # type: ignore[var-annotated]
        self.told: Counter[tuple[object, ...]] = Counter()
        self.given: Counter[int] = Counter()
        self.places: dict[int, tuple[int, int]] = {}
        self.paces: dict[int, int] = {}
        self.version = 0
        self.end: int | None = None

    def links(self, one: int, other: int) -> list[tuple[object, ...]]:
        path = min(nx.all_shortest_paths(self.ways, one, other))
        return [("link", *sorted(pair)) for pair in pairwise(path)]

    def move(
        self,
        now: int,
        way: Sequence[tuple[object, ...]],
        near: int,
        far: int,
        size: int,
        batch: int,
    ) -> None:
        for carrier in (*set(way), *self.links(near, far)):
            self.bytes[carrier] += size
            self.batched[carrier] += size * batch
        if self.end is None:
            self.end = now + EPOCH_PS

    def waits(self, way: Sequence[tuple[object, ...]], near: int, far: int) -> int:
        waiting = sum(self.wait[carrier] for carrier in set(way))
        waiting += sum(self.told[link] for link in self.links(near, far))
        return (waiting + HALF_NS) // 1000 * 1000

    def watch(self, places: dict[int, tuple[int, int]]) -> None:
        self.places = places
        self.pace()

    def pace(self) -> None:
        late = self.included.local_ps - self.included.line_ps
        for cpu, (bus, node) in self.places.items():
            own = late + self.waits([("bus", bus), ("memory", node)], node, node)
            self.paces[cpu] = 1000 + self.included.stall_permille * own // self.included.line_ps

    def until(self, now: int) -> None:
        while self.end is not None and self.end <= now:
            end, self.end = self.end, -1
            self.end = end + EPOCH_PS if self.epoch() else None

    def epoch(self) -> bool:
        before = sum(self.wait.values())
        if self.included.stall_permille:
            for cpu, (bus, node) in self.places.items():
                work = self.given.pop(cpu, 0)
                lines = work * self.included.stall_permille // 1000 // self.included.line_ps
                way = [("bus", bus), ("memory", node)]
                self.move(0, way, node, node, lines * self.line, 1)
        for carrier, rate in self.rates.items():
            size = self.bytes.pop(carrier, 0)
            batched = self.batched.pop(carrier, 0)
            if rate:
                now = min(size * MILLION // (rate // 1000), 950_000)
                load = self.load[carrier] = (self.load[carrier] + now) // 2
                self.batch[carrier] = batched // size if size else self.batch[carrier]
                served = self.line * 10**12 // rate * self.batch[carrier]
                self.wait[carrier] = served * load // (2 * (MILLION - load))
                self.carried[carrier] += size
        if max(before, sum(self.wait.values())) >= HALF_NS:
            self.version += 1
            self.told = Counter({key: ps for key, ps in self.wait.items() if key[0] == "link"})
            self.pace()
        return any(self.load.values())


OPERATIONS = st.tuples(
    st.sampled_from(["work", "hand over", "fetch", "fetch", "transfer"]),
    st.integers(0, 7),
    st.integers(0, 7),
    st.sampled_from([0, 1, 100, 20_000, 1_000_000, 7_000_000]),
    st.integers(1, 6),
    st.sampled_from([0, 1, 300_000_000, 10**9, 3 * 10**9]),
)


@settings(max_examples=40)
@given(
    st.sampled_from(LAYOUTS),
    st.sampled_from([64, 128, 200]),
    st.builds(Bandwidths, RATES, RATES, RATES),
    st.sampled_from([Included(), Included(400, 100_000, 100_000), Included(250, 90_000, 130_000)]),
    st.lists(OPERATIONS, min_size=5, max_size=40),
)
def test_all_that_is_carried_waits_as_the_reference_says(
    layout: tuple[int, int, list[tuple[int, int]]],
    line: int,
    bandwidths: Bandwidths,
    included: Included,
    script: list[tuple[str, int, int, int, int, int]],
) -> None:
    nodes, buses, links = layout
    sim = Simulator()
    machine = make_machine(sim, nodes=nodes, sockets_per_node=buses, buses_per_node=buses)
    model = Interconnect(sim, "host.interconnect", nodes, buses, links, line, bandwidths, included)
    reference = Reference(nodes, buses, links, line, bandwidths, included)
    model.watch(machine.cpus)
    reference.watch({cpu.cpu_id: (cpu.bus, cpu.node) for cpu in machine.cpus})
    jobs = [Job(sim, f"job{cpu.cpu_id}", PROCESS_LEVEL, SYSTEM) for cpu in machine.cpus]
    asked = [0] * len(jobs)
    for what, first, second, size, batch, gap in script:
        bus, node = first % (nodes * buses), second % nodes
        own = bus // buses
        to_memory = [("bus", bus), ("memory", node)]
        if what == "work":
            number = first % len(jobs)
            if asked[number] == len(jobs[number].done_ps):
                asked[number] += 1
                jobs[number].start(machine.cpus[number], size * 100)
                reference.given[number] += size * 100
        elif what == "hand over":
            other = second % (nodes * buses)
            way = [("bus", bus), ("bus", other)]
            reference.move(sim.now, way, own, other // buses, size * line, 1)
            expected = reference.waits(way, own, other // buses)
            assert model.hand_over(bus, other, size) == expected
        elif what == "fetch":
            reference.move(sim.now, to_memory, own, node, size, batch)
            model.fetch(bus, node, size, batch)
        else:
            burst = -(-512 // line)
            reference.move(sim.now, to_memory[1:], first % nodes, node, size, burst)
            model.transfer(first % nodes, node, size)
        sim.run_until(sim.now + gap)
        reference.until(sim.now)
        rows = {
            name: [counts[carrier] for carrier in reference.rates]
            for name, counts in vars(reference).items()
            if name in {"load", "batch", "wait", "carried"}
        }
        assert list(model.load_ppm) == rows["load"]
        assert list(model.batch) == rows["batch"]
        assert list(model.wait_ps) == rows["wait"]
        assert list(model.carried) == rows["carried"]
        assert model.version == reference.version
        assert model.wait_for_memory_ps(bus, node) == reference.waits(to_memory, own, node)
        assert {cpu.cpu_id: cpu.alone_permille for cpu in machine.cpus} == reference.paces


def test_carriers_are_named_and_have_their_rates() -> None:
    model = Interconnect(
        Simulator(), "host.interconnect", 2, 2, [(0, 1)], 64, Bandwidths(5, 7, 9), Included()
    )
    assert dict(zip(model.names, model.bandwidth, strict=True)) == {
        ("bus", "node 0 bus 0"): 5,
        ("bus", "node 0 bus 1"): 5,
        ("bus", "node 1 bus 0"): 5,
        ("bus", "node 1 bus 1"): 5,
        ("memory", "node 0 memory"): 7,
        ("memory", "node 1 memory"): 7,
        ("link", "nodes 0 and 1 link"): 9,
    }
    assert Bandwidths() == Bandwidths(bus=0, controller=0, link=0)
    assert Included() == Included(stall_permille=0, line_ps=1, local_ps=1)
