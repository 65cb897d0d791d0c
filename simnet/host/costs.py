"""What the steps of the data path cost a CPU: cycles of its own, and cache lines that come to it.

A step's cycles are those of one kind of CPU, in whole nanoseconds kept as ps. What a line costs
depends on where its last writer and its home are, and on the load. The machine is a graph of NUMA
nodes whose edges are the interconnect's links; the distance of two nodes is the number of links
between them. Sources: realworldtech "X3 chipset" (108 ns local; a miss to a remote address is
broadcast and its owner answers) and the ranges in the server model.

A socket buffer is written by the CPU that allocates it and by those that pass it on, freed by its
last user, and used again: its lines travel to each of them. Source: mm/slab.c of Linux 2.6.18: what
is freed goes to the front of an array and is the next to be allocated; `cache_free_alien` gives
back what came from another node, and writes that node's array and slab descriptors.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import cython

from simnet.errors import SimulationError
from simnet.host.cache import CacheWays
from simnet.host.cpu import Cpu
from simnet.host.interconnect import Interconnect
from simnet.host.ledger import Ledger
from simnet.kernel.compiled import Array, Public

_ALL_PERMILLE: cython.longlong = 1000

COST_NAMES = (
    "hardirq",
    "softirq_entry",
    "poll",
    "driver_rx",
    "skb_alloc",
    "skb_free",
    "ip_rx",
    "tcp_rx",
    "backlog",
    "ack_tx",
    "ack_rx",
    "tcp_tx",
    "bond_tx",
    "tx_completion",
    "wakeup",
    "context_switch",
    "ipi",
    "syscall",
    "user_recv",
    "user_send",
    "user_relay",
    "user_request",
    "user_loop",
    "epoll_event",
    "copy_line",
    "csum_line",
    "rx_page",
    "page_zone",
    "rps",
    "gso",
    "bio",
    "page",
)


def whole_ns(time_ps: int) -> int:
    """Round to whole nanoseconds: SMT stretching is then exact in ps."""
    return (time_ps + 500) // 1000 * 1000


def cycles_ps(cycles: int, clock_hz: int) -> int:
    """Return how long cycles take at a clock, in whole nanoseconds."""
    return whole_ns(cycles * 10**12 // clock_hz)


@cython.cclass
class Costs:
    """Work of each step at full speed, and the ledger in which it is booked.

    Args:
        cycles: cycles of each step of `COST_NAMES`.
        clock_hz: clock of the CPU.
        line_bytes: cache line.
        copy_overlap: how many line fetches a copy keeps in flight.
        stores_overlap: it asks for lines that it writes ahead, too; else they come one by one.
    """

    hardirq_ps: cython.longlong = 0
    softirq_entry_ps: cython.longlong = 0
    poll_ps: cython.longlong = 0
    driver_rx_ps: cython.longlong = 0
    skb_alloc_ps: cython.longlong = 0
    skb_free_ps: cython.longlong = 0
    ip_rx_ps: cython.longlong = 0
    tcp_rx_ps: cython.longlong = 0
    backlog_ps: cython.longlong = 0
    ack_tx_ps: cython.longlong = 0
    ack_rx_ps: cython.longlong = 0
    tcp_tx_ps: cython.longlong = 0
    bond_tx_ps: cython.longlong = 0
    tx_completion_ps: cython.longlong = 0
    wakeup_ps: cython.longlong = 0
    context_switch_ps: cython.longlong = 0
    ipi_ps: cython.longlong = 0
    syscall_ps: cython.longlong = 0
    user_recv_ps: cython.longlong = 0
    user_send_ps: cython.longlong = 0
    user_relay_ps: cython.longlong = 0
    user_request_ps: cython.longlong = 0
    user_loop_ps: cython.longlong = 0
    epoll_event_ps: cython.longlong = 0
    copy_line_ps: cython.longlong = 0
    csum_line_ps: cython.longlong = 0
    rx_page_ps: cython.longlong = 0
    page_zone_ps: cython.longlong = 0
    rps_ps: cython.longlong = 0
    gso_ps: cython.longlong = 0
    bio_ps: cython.longlong = 0
    page_ps: cython.longlong = 0
    line_bytes: cython.int = 0
    copy_overlap: cython.int = 0
    stores_overlap: cython.bint = False
    ledger: Ledger = None

    def __init__(
        self,
        cycles: Mapping[str, int],
        clock_hz: int,
        line_bytes: int,
        copy_overlap: int,
        *,
        stores_overlap: bool = False,
    ) -> None:
        ps = {name: cycles_ps(cycles[name], clock_hz) for name in COST_NAMES}
        self.hardirq_ps = ps["hardirq"]
        self.softirq_entry_ps = ps["softirq_entry"]
        self.poll_ps = ps["poll"]
        self.driver_rx_ps = ps["driver_rx"]
        self.skb_alloc_ps = ps["skb_alloc"]
        self.skb_free_ps = ps["skb_free"]
        self.ip_rx_ps = ps["ip_rx"]
        self.tcp_rx_ps = ps["tcp_rx"]
        self.backlog_ps = ps["backlog"]
        self.ack_tx_ps = ps["ack_tx"]
        self.ack_rx_ps = ps["ack_rx"]
        self.tcp_tx_ps = ps["tcp_tx"]
        self.bond_tx_ps = ps["bond_tx"]
        self.tx_completion_ps = ps["tx_completion"]
        self.wakeup_ps = ps["wakeup"]
        self.context_switch_ps = ps["context_switch"]
        self.ipi_ps = ps["ipi"]
        self.syscall_ps = ps["syscall"]
        self.user_recv_ps = ps["user_recv"]
        self.user_send_ps = ps["user_send"]
        self.user_relay_ps = ps["user_relay"]
        self.user_request_ps = ps["user_request"]
        self.user_loop_ps = ps["user_loop"]
        self.epoll_event_ps = ps["epoll_event"]
        self.copy_line_ps = ps["copy_line"]
        self.csum_line_ps = ps["csum_line"]
        self.rx_page_ps = ps["rx_page"]
        self.page_zone_ps = ps["page_zone"]
        self.rps_ps = ps["rps"]
        self.gso_ps = ps["gso"]
        self.bio_ps = ps["bio"]
        self.page_ps = ps["page"]
        self.line_bytes = line_bytes
        self.copy_overlap = copy_overlap
        self.stores_overlap = stores_overlap
        self.ledger = Ledger()

    @cython.cfunc
    def lines(self, length: cython.longlong) -> cython.longlong:
        """Cache lines that `length` bytes take."""
        return (length + self.line_bytes - 1) // self.line_bytes

    @cython.cfunc
    def overlapping_ps(self, fetches_ps: cython.longlong) -> cython.longlong:
        """What a copy waits for lines whose fetches last `fetches_ps` in all, in whole ns."""
        return fetches_ps // 1000 // self.copy_overlap * 1000

    @cython.cfunc
    def storing_ps(self, fetches_ps: cython.longlong) -> cython.longlong:
        """What a copy waits for lines that it writes, whose fetches last so long in all."""
        return self.overlapping_ps(fetches_ps) if self.stores_overlap else fetches_ps

    @cython.cfunc
    def checksum_ps(self, length: cython.longlong) -> cython.longlong:
        """Book the CPU's checksum of a payload, and return its work."""
        work: cython.longlong = self.lines(length) * self.csum_line_ps
        self.ledger.checksum += work
        return work


@cython.final
@cython.cclass
class Spread:
    """Luck with caches and buses: work varies evenly by up to `permille` / 1000 of itself.

    The numbers are those of the C standard's example generator, so that they are the same
    in every engine.

    Args:
        seed: of this component's numbers.
        permille: largest deviation, in 1/1000.
    """

    state: cython.longlong = 0
    permille: cython.longlong = 0

    def __init__(self, seed: cython.ulonglong, permille: cython.longlong) -> None:
        self.state = seed & 0x7FFFFFFF
        self.permille = permille

    def vary(self, work_ps: cython.longlong) -> cython.longlong:
        """Draw the actual work for a mean of `work_ps`, in whole nanoseconds."""
        if self.permille == 0:
            return work_ps
        self.state = (self.state * 1103515245 + 12345) & 0x7FFFFFFF
        # ns * permille * (0..65535) / 65536 stays far below 2**63
        return (
            work_ps
            - work_ps // 1000 * self.permille // 1000 * 1000
            + (work_ps // 1000 * self.permille * ((self.state >> 8) & 0xFFFF) // 32_768_000) * 1000
        )


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
    """Cache lines of one data structure that travel to whichever CPU touches them."""

    memory: Memory = None  # the machine's memory
    lines: cython.int = 0  # how many lines one use of the structure writes
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
    """The buffers of one machine."""

    memory: Memory = None  # the machine's memory
    ledger: Ledger = None  # where the work is booked
    skb_lines: cython.int = 0  # cache lines of one `sk_buff` and its headers
    # of the slab, when a buffer is freed on another node than it came from
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
