"""What a cache line costs: it depends on where its last writer and its home are, and on the load.

The machine is a graph of NUMA nodes whose edges are the interconnect's links; the distance of two
nodes is the number of links between them. Sources: realworldtech "X3 chipset" (108 ns local; a miss
to a remote address is broadcast and its owner answers) and the ranges in the server model.

A socket buffer is written by the CPU that allocates it and by those that pass it on, freed by its
last user, and used again: its lines travel to each of them. Source: mm/slab.c of Linux 2.6.18: what
is freed goes to the front of an array and is the next to be allocated; `cache_free_alien` gives
back what came from another node, and writes that node's array and slab descriptors.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import cython

from simnet.errors import SimulationError
from simnet.host.cache import CacheWays
from simnet.host.costs import Costs
from simnet.host.cpu import Cpu
from simnet.host.interconnect import Interconnect
from simnet.host.ledger import Ledger
from simnet.kernel.compiled import Array, Public

_ALL_PERMILLE: cython.longlong = 1000


def distances(nodes: int, links: list[tuple[int, int]]) -> list[list[int]]:
    """Number of links between every two nodes, by Floyd and Warshall's algorithm.

    The import of a library of graphs would take longer than a short simulation.

    Args:
        nodes: number of NUMA nodes.
        links: pairs of directly linked nodes.

    Raises:
        SimulationError: some node cannot be reached from another.
    """
    hops = [[0 if a == b else nodes for b in range(nodes)] for a in range(nodes)]
    for a, b in links:
        hops[a][b] = hops[b][a] = min(1, hops[a][b])
    for via in range(nodes):
        for row in hops:
            row[:] = [min(way, row[via] + rest) for way, rest in zip(row, hops[via], strict=True)]
    if any(nodes in row for row in hops):
        message = "the NUMA nodes are not all connected"
        raise SimulationError(message)
    return hops


@cython.final
@cython.cclass
class Memory:
    """Latencies of one machine's memory, in ps for one cache line.

    Memory of another node never costs less than the own node's: what is on the way is extra.

    Args:
        hops: matrix of distances (see `distances`).
        local_ps: load from the own node's memory.
        same_bus_dirty_ps: line that is dirty in a cache on the same front-side bus.
        same_node_dirty_ps: dirty in a cache on the node's other bus.
        remote_ps: load from memory one link away.
        remote_dirty_ps: dirty in a cache one link away.
        hop_ps: each further link.
        mmio_write_ps: uncached write to a device of the own node.
        mmio_hop_ps: each link on the way to the device.
        included_ps: the line from the own node's memory that the costs of the steps include.
        interconnect: what the lines cross, and wait for; None if it carries any load.
        caches: last-level caches that devices write into, one a node; none if that is not modelled.
        core_cache: the private cache of a core, where those are modelled.
    """

    included_ps: cython.longlong = 0
    interconnect: Interconnect | None = None
    caches: list[Any] = None
    core_cache: Public[CacheWays] = None
    same_bus_dirty_ps: cython.longlong = 0
    nodes: cython.int = 0
    latency: Array[cython.longlong] = None
    dirty: Array[cython.longlong] = None
    mmio: Array[cython.longlong] = None

    def __init__(
        self,
        hops: list[list[int]],
        *,
        local_ps: int,
        same_bus_dirty_ps: int,
        same_node_dirty_ps: int,
        remote_ps: int,
        remote_dirty_ps: int,
        hop_ps: int,
        mmio_write_ps: int,
        mmio_hop_ps: int,
        included_ps: int,
        interconnect: Interconnect | None = None,
        caches: Sequence[CacheWays] = (),
        core_cache: CacheWays | None = None,
    ) -> None:
        self.core_cache = core_cache
        self.caches = list(caches)
        self.included_ps = included_ps
        self.interconnect = interconnect
        self.same_bus_dirty_ps = same_bus_dirty_ps
        self.nodes = len(hops)
        far_ps = max(remote_ps, local_ps)
        # of every two nodes, one row after another
        self.latency = array(
            "q", [far_ps + (h - 1) * hop_ps if h else local_ps for row in hops for h in row]
        )
        self.dirty = array(
            "q",
            [
                remote_dirty_ps + (h - 1) * hop_ps if h else same_node_dirty_ps
                for row in hops
                for h in row
            ],
        )
        self.mmio = array("q", [mmio_write_ps + h * mmio_hop_ps for row in hops for h in row])

    def dirty_lines_ps(self, reader: Cpu, owner: Cpu, lines: cython.longlong) -> cython.longlong:
        """Fetch lines that `owner` wrote last. SMT siblings share their caches."""
        line_ps: cython.longlong
        if reader is owner or reader.sibling is owner:
            return 0
        if reader.bus == owner.bus:
            line_ps = self.same_bus_dirty_ps
        else:
            line_ps = self.dirty[reader.node * self.nodes + owner.node]
        if self.interconnect is not None:
            line_ps += self.interconnect.hand_over(reader.bus, owner.bus, lines)
        return lines * line_ps

    def beyond_ps(
        self, cpu: Cpu, home_node: cython.int, writer_node: cython.int
    ) -> cython.longlong:
        """What a line costs beyond a local one that a device on `writer_node` wrote.

        The home answers only after the writer's side was snooped, so the farther one counts. A
        line from the own node's memory is among the costs of the steps, and slower with them.
        """
        home: cython.longlong
        line_ps: cython.longlong
        if home_node == cpu.node and writer_node == cpu.node:
            return 0
        line_ps = self.latency[cpu.node * self.nodes + writer_node]
        home = self.latency[cpu.node * self.nodes + home_node]
        if home > line_ps:
            line_ps = home
        if self.interconnect is not None:
            line_ps += self.interconnect.wait_for_memory_ps(cpu.bus, home_node)
        return line_ps - self.included_ps if line_ps > self.included_ps else 0

    def fetched(
        self, cpu: Cpu, home_node: cython.int, size: cython.longlong, batch: cython.longlong
    ) -> cython.int:
        """Note that a CPU reads `size` bytes of a node's memory, `batch` lines at once.

        Those of its own node are among the work of the CPU.
        """
        if home_node != cpu.node and self.interconnect is not None:
            self.interconnect.fetch(cpu.bus, home_node, size, batch)
        return 0

    def received_ps(
        self,
        cpu: Cpu,
        costs: Costs,
        cache: CacheWays,
        length: cython.longlong,
        home_node: cython.int,
        writer_node: cython.int,
    ) -> cython.longlong:
        """What a copy waits for bytes that a device has put there, beyond its own work.

        Args:
            cpu: that copies.
            costs: of the host, in whose ledger it is booked.
            cache: the part of the last-level cache that the device writes to; None if caches are
                not modelled. It may have lost some of the lines.
            length: bytes.
            home_node: whose memory holds them.
            writer_node: of the device.
        """
        lines: cython.longlong = costs.lines(length)
        far_ps: cython.longlong = self.beyond_ps(cpu, home_node, writer_node)
        extra: cython.longlong
        lost: cython.longlong
        if cache is None:
            extra = costs.overlapping_ps(lines * far_ps)
            self.fetched(cpu, home_node, length, costs.copy_overlap)
            costs.ledger.copy_lines += extra
        elif home_node != cpu.node:
            extra = costs.overlapping_ps(lines * (far_ps + cache.miss_ps))
            self.fetched(cpu, home_node, lines * costs.line_bytes, costs.copy_overlap)
            costs.ledger.copy_lines += extra
        else:
            # what a device writes to another node's memory is in no cache
            lost = cache.lost_permille() if writer_node == cpu.node else _ALL_PERMILLE
            extra = costs.overlapping_ps(lines * lost // _ALL_PERMILLE * cache.miss_ps)
            costs.ledger.copy_misses += extra
        return extra

    def transferred(
        self, device_node: cython.int, home_node: cython.int, size: cython.longlong
    ) -> cython.int:
        """Note that a device reads or writes `size` bytes of a node's memory."""
        if self.interconnect is not None:
            self.interconnect.transfer(device_node, home_node, size)
        return 0

    def mmio_write_ps(self, cpu_node: cython.int, device_node: cython.int) -> cython.longlong:
        """Uncached write to a device register."""
        write_ps: cython.longlong = self.mmio[cpu_node * self.nodes + device_node]
        return write_ps


@cython.final
@cython.cclass
class SharedLines:
    """Cache lines of one data structure that travel to whichever CPU touches them.

    Args:
        memory: the machine's memory.
        lines: how many lines one use of the structure writes.
    """

    memory: Memory = None
    lines: cython.int = 0
    owner: Cpu = None
    transfers: cython.longlong = 0

    def __init__(self, memory: Memory, lines: int) -> None:
        self.memory = memory
        self.lines = lines

    def touch(self, cpu: Cpu) -> cython.longlong:
        """Cost of bringing the lines to `cpu`, which owns them afterwards."""
        owner: Cpu = self.owner
        if owner is cpu:
            return 0
        self.owner = cpu
        if owner is None or cpu.sibling is owner:
            return 0
        self.transfers += self.lines
        return self.memory.dirty_lines_ps(cpu, owner, self.lines)


@cython.final
@cython.cclass
class Buffers:
    """The buffers of one machine.

    Args:
        memory: the machine's memory.
        ledger: where the work is booked.
        skb_lines: cache lines of one `sk_buff` and its headers.
        slab_lines: of the slab, when a buffer is freed on another node than it came from.
    """

    memory: Memory = None
    ledger: Ledger = None
    skb_lines: cython.int = 0
    slab_lines: cython.int = 0

    def __init__(self, memory: Memory, ledger: Ledger, skb_lines: int, slab_lines: int) -> None:
        self.memory = memory
        self.ledger = ledger
        self.skb_lines = skb_lines
        self.slab_lines = slab_lines

    def allocated_ps(self, cpu: Cpu, freer: Cpu) -> cython.longlong:
        """Use a buffer on `cpu` that `freer` has freed; None: it was never used."""
        work: cython.longlong
        if freer is None or freer is cpu:
            return 0
        work = self.memory.dirty_lines_ps(cpu, freer, self.skb_lines)
        self.ledger.skb_lines += work
        return work

    def freed_ps(self, cpu: Cpu, toucher: Cpu) -> cython.longlong:
        """Read and free a buffer on `cpu` that `toucher` has allocated and written."""
        lines: cython.longlong = self.skb_lines
        work: cython.longlong
        if toucher is None or toucher is cpu:
            return 0
        if toucher.node != cpu.node:
            lines += self.slab_lines
        work = self.memory.dirty_lines_ps(cpu, toucher, lines)
        self.ledger.skb_lines += work
        return work
