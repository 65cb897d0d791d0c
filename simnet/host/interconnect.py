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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

import cython

from simnet.host.cpu import Cpu
from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator

__all__ = ["Bandwidths", "Included", "Interconnect", "links_between"]

_PS = 10**12
_EPOCH_PS = cython.declare(cython.longlong, 10**9)
_EPOCHS_PER_S = cython.declare(cython.longlong, 1000)
# Lines behind a carrier that is asked for more than it has wait as behind one this full.
_FULLEST_PPM = cython.declare(cython.longlong, 950_000)
_ALL_PPM = cython.declare(cython.longlong, 1_000_000)
# PCI-X moves 512 bytes in a burst (default of its maximum memory read byte count), PCI Express
# 128 to 512 bytes in a packet.
_BURST_BYTES = cython.declare(cython.int, 512)
_NS = cython.declare(cython.longlong, 1000)


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


@cython.cclass
class Interconnect(Component):
    """The carriers of one machine, and the ways over them.

    Carriers are numbered: buses first, then the nodes' memory controllers, then links. A way leads
    from a reader, one of the buses or, after them, the devices of one of the nodes, to a
    place: the memory of one of the nodes or, after them, the caches on one of the buses.

    Args:
        sim: the simulation.
        path: component path.
        nodes: NUMA nodes.
        buses_per_node: front-side buses of a node; one where CPUs have none.
        links: pairs of directly linked nodes.
        line_bytes: cache line.
        bandwidths: of the carriers.
        included: what the work of the CPUs carries; see `watch`.

    Attributes:
        names: kind and name of each carrier.
        version: changes whenever waiting times do.
    """

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
        self.nodes = nodes
        self.line_bytes = line_bytes
        self.ends = buses + nodes
        self.version = 0
        self.included = included
        self.cpus: list[Cpu] = []
        self.given_ps = array("q")
        self.awake = False
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
        nothing = [0] * self.carriers
        self.bytes = array("q", nothing)
        self.batched = array("q", nothing)
        self.batch = array("q", nothing)
        self.load_ppm = array("q", nothing)
        self.wait_ps = array("q", nothing)
        self.carried = array("q", nothing)
        ways = list(_ways(nodes, buses_per_node, links))
        self.way_ends = array("q", accumulate(map(len, ways)))
        self.way_carriers = array("q", chain.from_iterable(ways))
        self.moved = array("q", [0] * len(ways))
        self.moved_batched = array("q", [0] * len(ways))
        self.way_wait_ps = array("q", [0] * len(ways))

    def watch(self, cpus: Sequence[Cpu]) -> None:
        """Count what the work of these CPUs carries, and slow them when their memory is slow."""
        self.cpus = list(cpus)
        self.given_ps = array("q", [0] * len(cpus))
        self._set_paces()

    def move(
        self, reader: cython.int, place: cython.int, size: cython.longlong, batch: cython.longlong
    ) -> cython.int:
        """Bytes have gone between a reader and a place, so many lines at once."""
        way: cython.int = reader * self.ends + place
        self.moved[way] += size
        self.moved_batched[way] += size * batch
        if not self.awake:
            self.awake = True
            self.sim.after(_EPOCH_PS, self, 0, 0, 0)
        return 0

    def hand_over(
        self, bus: cython.int, owner: cython.int, lines: cython.longlong
    ) -> cython.longlong:
        """Take lines, one by one, from a cache on the bus `owner`; return the wait of each."""
        wait_ps: cython.longlong = self.way_wait_ps[bus * self.ends + self.nodes + owner]
        self.move(bus, self.nodes + owner, lines * self.line_bytes, 1)
        return wait_ps

    def wait_for_memory_ps(self, bus: cython.int, node: cython.int) -> cython.longlong:
        """How long a line of a node's memory waits on its way to a bus."""
        wait_ps: cython.longlong = self.way_wait_ps[bus * self.ends + node]
        return wait_ps

    def fetch(
        self, bus: cython.int, node: cython.int, size: cython.longlong, batch: cython.longlong
    ) -> cython.int:
        """A CPU on `bus` reads a node's memory, so many lines at once."""
        return self.move(bus, node, size, batch)

    def transfer(
        self, device_node: cython.int, node: cython.int, size: cython.longlong
    ) -> cython.int:
        """A device reads or writes a node's memory, a burst of its bus at once."""
        batch: cython.longlong = (_BURST_BYTES + self.line_bytes - 1) // self.line_bytes
        return self.move(self.buses + device_node, node, size, batch)

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The end of an epoch."""
        self._add_up()
        self.awake = self._price()
        if self.awake:
            self.sim.after(_EPOCH_PS, self, 0, 0, 0)

    def _add_up(self) -> cython.int:
        """Book what was moved on the carriers that it crossed."""
        way: cython.int
        cpu: Cpu
        stall: cython.longlong = self.included.stall_permille
        line_ps: cython.longlong = self.included.line_ps
        if stall > 0:
            for cpu in self.cpus:
                given_ps: cython.longlong = cpu.given_ps - self.given_ps[cpu.cpu_id]
                if given_ps > 0:
                    self.given_ps[cpu.cpu_id] += given_ps
                    lines: cython.longlong = given_ps * stall // 1000 // line_ps
                    self.move(cpu.bus, cpu.node, lines * self.line_bytes, 1)
        step: cython.int = 0
        carrier: cython.longlong
        for way in range(self.ends * self.ends):
            if self.moved[way] == 0:
                step = self.way_ends[way]
                continue
            while step < self.way_ends[way]:
                carrier = self.way_carriers[step]
                self.bytes[carrier] += self.moved[way]
                self.batched[carrier] += self.moved_batched[way]
                step += 1
            self.moved[way] = 0
            self.moved_batched[way] = 0
        return 0

    def _price(self) -> cython.bint:
        """Work out loads and waits; return whether any load is left."""
        carrier: cython.int
        step: cython.int = 0
        way: cython.int
        load: cython.longlong
        size: cython.longlong
        wait_ps: cython.longlong
        loaded: cython.bint = False
        changed: cython.bint = False
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
            self.carried[carrier] += size
            self.bytes[carrier] = 0
            self.batched[carrier] = 0
            loaded = loaded or load > 0
        for way in range(self.ends * self.ends):
            wait_ps = 0
            while step < self.way_ends[way]:
                wait_ps += self.wait_ps[self.way_carriers[step]]
                step += 1
            # whole ns: SMT siblings then stretch work exactly
            wait_ps = (wait_ps + _NS // 2) // _NS * _NS
            if wait_ps != self.way_wait_ps[way]:
                self.way_wait_ps[way] = wait_ps
                self.version += 1
                changed = True
        if changed:
            self._set_paces()
        return loaded

    def _set_paces(self) -> cython.int:
        """Set how long the work of the CPUs takes while their own memory answers as it does."""
        cpu: Cpu
        late_ps: cython.longlong
        for cpu in self.cpus:
            late_ps = self.way_wait_ps[cpu.bus * self.ends + cpu.node]
            late_ps += self.included.local_ps - self.included.line_ps
            cpu.set_pace(1000 + self.included.stall_permille * late_ps // self.included.line_ps)
        return 0


def _ways(nodes: int, buses_per_node: int, links: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
    """Return the carriers on the way from every reader to every place."""
    buses = nodes * buses_per_node
    between = links_between(nodes, links)
    readers = [(bus // buses_per_node, [bus]) for bus in range(buses)]
    readers += [(node, []) for node in range(nodes)]
    places = [(node, [buses + node]) for node in range(nodes)]
    places += [(bus // buses_per_node, [bus]) for bus in range(buses)]
    for near, own in readers:
        for far, other in places:
            crossed = [buses + nodes + link for link in between[near][far]]
            yield [*own, *crossed, *(other if other != own else [])]
