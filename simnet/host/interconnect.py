"""What the buses, links and memory controllers of a machine carry, and what waiting for them costs.

Three things are carried: lines that a CPU fetches from another node's memory or from another CPU's
cache, what devices write and read, and lines of the own node's memory that the work of the CPUs
includes: of every piece of work, a share is waiting for such lines. Every epoch the load of each
carrier is what crossed it, over what it could have carried. A line then waits for each carrier
on its way as a customer of a queue with constant service and arrivals in batches (M[X]/D/1):

    wait = service * batch * load / (2 * (1 - load))

where `service` is the time that one line occupies the carrier and `batch` how many lines come at
once, a burst of a device or the fetches that a copy keeps in flight. That is the formula of
Pollaczek and Khinchine without what a batch waits for itself, which unloaded latencies include.
A CPU whose own memory answers later than when its costs were found takes longer for its work.
An epoch is short against what is simulated and long against an event: no line is an event. Epochs
end while devices or far lines move; without these, work alone is taken to load nothing. What a
batch moves counts for the epoch in which the batch begins.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any

import cython

from simnet.host.cpu import Cpu
from simnet.kernel.compiled import Array, Public
from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator

_PS = 10**12
_EPOCH_PS: cython.longlong = 10**9
_EPOCHS_PER_S: cython.longlong = 1000
# Lines behind a carrier that is asked for more than it has wait as behind one this full.
_FULLEST_PPM: cython.longlong = 950_000
_ALL_PPM: cython.longlong = 1_000_000
# PCI-X moves 512 bytes in a burst (default of its maximum memory read byte count), PCI Express
# 128 to 512 bytes in a packet.
_BURST_BYTES: cython.int = 512
_HALF_NS: cython.longlong = 500


@dataclass(frozen=True)
class Bandwidths:
    """What one of each kind of carrier can carry, in bytes per second; 0: without limit."""

    bus: int = 0
    controller: int = 0
    link: int = 0


@dataclass(frozen=True)
class Included:
    """Lines of the own node's memory that the work of a CPU includes.

    `stall_permille` of the work is waiting for them, `line_ps` for each, or `local_ps`
    on this machine as long as nothing else is carried.
    """

    stall_permille: int = 0
    line_ps: int = 1
    local_ps: int = 1


def links_between(nodes: int, links: Sequence[tuple[int, int]]) -> list[list[tuple[int, ...]]]:
    """Return, for every two nodes, the numbers of the links on a shortest way between them.

    Of ways that are equally short, the one over the lower nodes is taken.

    Args:
        nodes: number of NUMA nodes.
        links: pairs of directly linked nodes; a link's number is its place.
    """
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for number, (one, other) in enumerate(links):
        neighbours[one].append((other, number))
        neighbours[other].append((one, number))
    ways: list[list[tuple[int, ...]]] = []
    for start in range(nodes):
        way: dict[int, tuple[int, ...]] = {start: ()}
        reached = [start]
        for node in reached:
            for neighbour, number in sorted(neighbours[node]):
                if neighbour not in way:
                    way[neighbour] = (*way[node], number)
                    reached.append(neighbour)
        ways.append([way.get(node, ()) for node in range(nodes)])
    return ways


@cython.final
@cython.cclass
class Interconnect(Component):
    """The carriers of one machine, and the ways over them.

    Carriers are numbered: buses first, then the nodes' memory controllers, then links. A way leads
    from a bus, or from the devices of a node, over the links between two nodes to a node's memory
    controller, or to the bus of the cache that has the line.

    Args:
        sim: the simulation.
        path: component path.
        nodes: NUMA nodes.
        buses_per_node: front-side buses of a node; one where CPUs have none.
        links: pairs of directly linked nodes.
        line_bytes: cache line.
        bandwidths: of the carriers.
        included: what the work of the CPUs carries; see `watch`.
    """

    buses: cython.int = 0
    nodes: cython.int = 0
    line_bytes: cython.int = 0
    bus_nodes: Array[cython.int] = None
    burst_lines: cython.int = 0
    carriers: cython.int = 0
    first_link: cython.int = 0
    version: cython.longlong = 0  # changes whenever waiting times may have
    awake: cython.bint = False
    names: tuple[Any, ...] = None  # kind and name of each carrier
    included: Any = None
    stall_permille: cython.longlong = 0
    included_line_ps: cython.longlong = 0
    included_late_ps: cython.longlong = 0
    cpus: list[Cpu] = None
    given_ps: Array[cython.longlong] = None
    bandwidth: Public[Array[cython.longlong]] = None
    service_ps: Array[cython.longlong] = None
    bytes: Array[cython.longlong] = None
    batched: Array[cython.longlong] = None
    batch: Public[Array[cython.longlong]] = None
    load_ppm: Public[Array[cython.longlong]] = None
    wait_ps: Public[Array[cython.longlong]] = None
    carried: Public[Array[cython.longlong]] = None
    pair_ends: Array[cython.longlong] = None
    pair_links: Array[cython.longlong] = None
    moved: Array[cython.longlong] = None
    moved_batched: Array[cython.longlong] = None
    pair_wait_ps: Array[cython.longlong] = None
    all_waits_ps: cython.longlong = 0

    def __init__(
        self,
        sim: Simulator,
        path: str,
        nodes: int,
        buses_per_node: int,
        links: Sequence[tuple[int, int]],
        line_bytes: int,
        bandwidths: Bandwidths,
        included: Included,
    ) -> None:
        super().__init__(sim, path)
        buses = nodes * buses_per_node
        self.buses = buses
        self.bus_nodes = array("i", [bus // buses_per_node for bus in range(buses)])
        self.nodes = nodes
        self.line_bytes = line_bytes
        self.burst_lines = (_BURST_BYTES + line_bytes - 1) // line_bytes
        self.included = included
        self.stall_permille = included.stall_permille
        self.included_line_ps = included.line_ps
        self.included_late_ps = included.local_ps - included.line_ps
        self.cpus = []
        self.given_ps = array("q")
        self.names = (
            *(
                ("bus", f"node {b // buses_per_node} bus {b % buses_per_node}")
                for b in range(buses)
            ),
            *(("memory", f"node {node} memory") for node in range(nodes)),
            *(("link", f"nodes {one} and {other} link") for one, other in links),
        )
        self.bandwidth = array(
            "q",
            [bandwidths.bus] * buses
            + [bandwidths.controller] * nodes
            + [bandwidths.link] * len(links),
        )
        self.service_ps = array(
            "q", [line_bytes * _PS // rate if rate else 0 for rate in self.bandwidth]
        )
        self.carriers = len(self.bandwidth)
        self.first_link = buses + nodes
        nothing = [0] * self.carriers
        self.bytes = array("q", nothing)
        self.batched = array("q", nothing)
        self.batch = array("q", nothing)
        self.load_ppm = array("q", nothing)
        self.wait_ps = array("q", nothing)
        self.carried = array("q", nothing)
        # of every two nodes, one row after another: the links between them, and what crossed them
        pairs = list(chain.from_iterable(links_between(nodes, links)))
        self.pair_ends = array("q", accumulate(map(len, pairs)))
        self.pair_links = array("q", chain.from_iterable(pairs))
        self.moved = array("q", [0] * len(pairs))
        self.moved_batched = array("q", [0] * len(pairs))
        self.pair_wait_ps = array("q", [0] * len(pairs))

    def watch(self, cpus: Sequence[Cpu]) -> None:
        """Count what the work of these CPUs carries, and slow them when their memory is slow."""
        self.cpus = list(cpus)
        self.given_ps = array("q", [0] * len(cpus))
        self._set_paces()

    def hand_over(
        self, bus: cython.int, owner: cython.int, lines: cython.longlong
    ) -> cython.longlong:
        """Take lines, one by one, from a cache on the bus `owner`; return the wait of each."""
        near: cython.int = self.bus_nodes[bus]
        far: cython.int = self.bus_nodes[owner]
        self._move(bus, near, owner, far, lines * self.line_bytes, 1)
        return self._wait(bus, near, owner, far)

    def wait_for_memory_ps(self, bus: cython.int, node: cython.int) -> cython.longlong:
        """How long a line of a node's memory waits on its way to a bus."""
        return self._wait(bus, self.bus_nodes[bus], self.buses + node, node)

    def fetch(
        self, bus: cython.int, node: cython.int, size: cython.longlong, batch: cython.longlong
    ) -> cython.int:
        """A CPU on `bus` reads a node's memory, so many lines at once."""
        return self._move(bus, self.bus_nodes[bus], self.buses + node, node, size, batch)

    def transfer(
        self, device_node: cython.int, node: cython.int, size: cython.longlong
    ) -> cython.int:
        """A device reads or writes a node's memory, a burst of its bus at once."""
        return self._move(-1, device_node, self.buses + node, node, size, self.burst_lines)

    def _move(
        self,
        bus: cython.int,
        near: cython.int,
        place: cython.int,
        far: cython.int,
        size: cython.longlong,
        batch: cython.longlong,
    ) -> cython.int:
        """Bytes have gone between the bus of a CPU, -1 for a device, and a place on a node."""
        pair: cython.int
        if bus >= 0 and bus != place:
            self.bytes[bus] += size
            self.batched[bus] += size * batch
        self.bytes[place] += size
        self.batched[place] += size * batch
        if near != far:
            pair = near * self.nodes + far
            self.moved[pair] += size
            self.moved_batched[pair] += size * batch
        if not self.awake:
            self.awake = True
            self.sim.after(_EPOCH_PS, self, 0, 0, 0)
        return 0

    def _wait(
        self, bus: cython.int, near: cython.int, place: cython.int, far: cython.int
    ) -> cython.longlong:
        """How long a line waits between a bus of the node `near` and a place on the node `far`."""
        wait_ps: cython.longlong = self.wait_ps[place]
        if bus != place:
            wait_ps += self.wait_ps[bus]
        wait_ps += self.pair_wait_ps[near * self.nodes + far]
        # whole ns: SMT siblings then stretch work exactly
        return (wait_ps + _HALF_NS) // 1000 * 1000

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The end of an epoch."""
        self._add_up()
        self.awake = self._price()
        if self.awake:
            self.sim.after(_EPOCH_PS, self, 0, 0, 0)

    def _add_up(self) -> cython.int:
        """Book what the work of the CPUs carried, and on each link what crossed it."""
        cpu: Cpu
        given_ps: cython.longlong
        lines: cython.longlong
        pair: cython.int
        step: cython.int = 0
        link: cython.longlong
        stall: cython.longlong = self.stall_permille
        line_ps: cython.longlong = self.included_line_ps
        if stall > 0:
            for cpu in self.cpus:
                given_ps = cpu.given_ps - self.given_ps[cpu.cpu_id]
                if given_ps > 0:
                    self.given_ps[cpu.cpu_id] += given_ps
                    lines = given_ps * stall // 1000 // line_ps
                    self.fetch(cpu.bus, cpu.node, lines * self.line_bytes, 1)
        for pair in range(self.nodes * self.nodes):
            while step < self.pair_ends[pair]:
                link = self.first_link + self.pair_links[step]
                self.bytes[link] += self.moved[pair]
                self.batched[link] += self.moved_batched[pair]
                step += 1
            self.moved[pair] = 0
            self.moved_batched[pair] = 0
        return 0

    def _price(self) -> cython.bint:
        """Work out loads and waits; return whether any load is left."""
        carrier: cython.int
        load: cython.longlong
        size: cython.longlong
        loaded: cython.bint = False
        before_ps: cython.longlong = self.all_waits_ps
        self.all_waits_ps = 0
        for carrier in range(self.carriers):
            size = self.bytes[carrier]
            if self.bandwidth[carrier] == 0:
                continue
            load = min(size * _ALL_PPM // (self.bandwidth[carrier] // _EPOCHS_PER_S), _FULLEST_PPM)
            # half of the epoch before: what waits slows those who ask, and the load must settle
            load = (self.load_ppm[carrier] + load) // 2
            if size > 0:
                self.batch[carrier] = self.batched[carrier] // size
            self.load_ppm[carrier] = load
            self.wait_ps[carrier] = (
                self.service_ps[carrier] * self.batch[carrier] * load // (2 * (_ALL_PPM - load))
            )
            self.all_waits_ps += self.wait_ps[carrier]
            self.carried[carrier] += size
            self.bytes[carrier] = 0
            self.batched[carrier] = 0
            loaded = loaded or load > 0
        # where all waits together are less than half a ns, a line waits for none on any way
        if before_ps >= _HALF_NS or self.all_waits_ps >= _HALF_NS:
            self.version += 1
            self._add_up_waits()
            self._set_paces()
        return loaded

    def _add_up_waits(self) -> cython.int:
        """Work out what waiting for all links between two nodes takes."""
        pair: cython.int
        step: cython.int = 0
        for pair in range(self.nodes * self.nodes):
            self.pair_wait_ps[pair] = 0
            while step < self.pair_ends[pair]:
                self.pair_wait_ps[pair] += self.wait_ps[self.first_link + self.pair_links[step]]
                step += 1
        return 0

    @cython.cdivision(False)
    def _set_paces(self) -> cython.int:
        """Set how long the work of the CPUs takes while their own memory answers as it does."""
        cpu: Cpu
        late_ps: cython.longlong
        for cpu in self.cpus:
            late_ps = self.wait_for_memory_ps(cpu.bus, cpu.node) + self.included_late_ps
            cpu.set_pace(1000 + self.stall_permille * late_ps // self.included_line_ps)
        return 0
