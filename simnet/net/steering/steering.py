"""Which CPU runs the stack for a received packet: RPS and RFS.

Source: net/core/dev.c `get_rps_cpu`, `set_rps_cpu` and include/linux/netdevice.h
`rps_record_sock_flow` of 2.6.32-131 (RHEL 6.1), -504 (RHEL 6.6) and 3.x;
Documentation/networking/scaling.txt. A flow moves to the CPU of the process that reads it only
when all its packets have left the backlog of the CPU before. Where the driver can steer flows, it
is asked then to send this one to a queue of that CPU (`simnet.net.steering.arfs`).
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import cython

from simnet.errors import InputError
from simnet.host.costs import Costs, Spread
from simnet.host.cpu import Cpu
from simnet.host.ledger import Ledger
from simnet.kernel.compiled import Array, Public
from simnet.kernel.component import Component
from simnet.kernel.prefetch import prefetch
from simnet.net.link.skb import Header, Skb
from simnet.net.steering.backlog import Backlog
from simnet.net.steering.flow_hash import connection_hash
from simnet.net.steering.version import SteeringRules, rounded_entries

if TYPE_CHECKING:
    from collections.abc import Sequence

_NO_CPU: cython.longlong = -1
_NO_ENTRY: cython.longlong = -2
_WORD: cython.longlong = 0xFFFFFFFF


@cython.cclass
class Steering:
    """What a receive queue does with a packet when its driver is done with it."""

    @cython.cfunc
    def fetch(self, skb: Skb) -> cython.int:
        """Ask for the cache lines that `deliver` of the packet will need."""
        return 0

    def deliver(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """`netif_receive_skb` in a softirq on `cpu`; return the work it caused there, in ps."""
        raise NotImplementedError


@cython.final
@cython.cclass
class SocketFlowTable:
    """`rps_sock_flow_table`: the CPU on which each flow was last read or written.

    Args:
        entries: `rps_sock_flow_entries`; rounded up to a power of two.
        rules: of the kernel.

    Raises:
        InputError: `entries` is beyond what the kernel takes, or 0: then there is no table.
    """

    cpus: Array[cython.longlong] = None
    hashes: Array[cython.longlong] = None
    mask: cython.longlong = 0
    tag_mask: cython.longlong = 0

    def __init__(self, entries: int, cpus: int, rules: SteeringRules) -> None:
        size = rounded_entries(entries)
        if size == 0:
            message = "a table of sockets' flows without entries: leave it out"
            raise InputError(message)
        self.cpus = array("q", [-1]) * size
        self.hashes = array("q", [0]) * size
        self.mask = size - 1
        # the part of the hash that an entry keeps beside the CPU's number
        number_mask = (1 << (cpus - 1).bit_length()) - 1
        self.tag_mask = _WORD & ~number_mask if rules.detects_collisions else 0

    @property
    def entries(self) -> int:
        """Size of the table."""
        return int(self.mask) + 1

    @cython.cfunc
    def fetch(self, rxhash: cython.longlong) -> cython.int:
        """Ask for a flow's entry."""
        if cython.compiled:
            prefetch(cython.address(self.cpus[rxhash & self.mask]), 8)
            prefetch(cython.address(self.hashes[rxhash & self.mask]), 8)
        return 0

    def record(self, rxhash: cython.longlong, cpu: cython.int) -> cython.int:
        """`rps_record_sock_flow`: a process reads or writes the flow on `cpu`; no hash is 0."""
        entry: cython.longlong = rxhash & self.mask
        if rxhash > 0:
            self.cpus[entry] = cpu
            self.hashes[entry] = rxhash & self.tag_mask
        return 0

    def reset(self, rxhash: cython.longlong) -> cython.int:
        """`rps_reset_sock_flow`: the flow has another hash now, or has ended."""
        if rxhash > 0:
            self.cpus[rxhash & self.mask] = _NO_CPU
        return 0

    def wanted(self, rxhash: cython.longlong) -> cython.longlong:
        """The CPU that a flow should go to, -1 for none, -2 if the entry is another flow's."""
        entry: cython.longlong = rxhash & self.mask
        found: cython.longlong = self.cpus[entry]
        if self.tag_mask != 0 and (found < 0 or self.hashes[entry] != rxhash & self.tag_mask):
            return _NO_ENTRY
        return found


@cython.cclass
class Accelerator(Component):
    """A driver that steers flows to queues (`ndo_rx_flow_steer`)."""

    def steer(
        self, current: PacketSteering, header: Header, cpu: cython.longlong
    ) -> PacketSteering:
        """Ask for a flow's queue to be one of a CPU; return whose table has its entry then.

        Args:
            current: of the queue that the packet came by.
            header: the packet's; it has a hash.
            cpu: that the flow moves to.
        """
        raise NotImplementedError(self.path)


@cython.final
@cython.cclass
class PacketSteering(Steering):
    """RPS and RFS of one receive queue.

    Args:
        rules: of the kernel.
        backlogs: of the machine's CPUs, by number.
        costs: of the CPUs.
        cpus: `rps_cpus`, the CPUs of the map, ascending; empty for none.
        flow_entries: `rps_flow_cnt`, rounded up to a power of two; 0 for no table.
        sockets: `rps_sock_flow_entries`; None for no table.
        seed: `hashrnd`, 32 bits, the same for all queues of a machine.
        device_hash: the device hands its hash over (`NETIF_F_RXHASH`), and the kernel uses it.

    Raises:
        InputError: a CPU of the map that the machine does not have, or a size beyond the kernel's.
    """

    rules: Any = None
    backlogs: list[Any] = None
    costs: Costs = None
    ledger: Ledger = None
    map: Array[cython.longlong] = None
    map_length: cython.longlong = 0
    sockets: SocketFlowTable = None
    flow_mask: cython.longlong = 0
    flow_cpus: Array[cython.longlong] = None
    flow_tails: Array[cython.longlong] = None
    flow_filters: Array[cython.longlong] = None
    accelerator: Accelerator = None  # is asked for a queue when a flow moves; None: nobody is
    number: cython.int = 0  # of the queue at its port
    elsewhere: PacketSteering = None
    steers: cython.bint = False
    seed: cython.longlong = 0
    device_hash: cython.bint = False
    hash_bits: cython.int = 0
    index_shift: cython.int = 0
    symmetric: cython.bint = False
    lookup3: cython.bint = False
    spread: Public[Spread] = None
    steered: cython.longlong = 0  # packets that were queued to a backlog, or dropped there
    local: cython.longlong = 0  # packets that the CPU which polled them took up the stack itself
    by_flow: cython.longlong = 0  # of the steered ones those with a flow entry
    moves: cython.longlong = 0  # times that an entry changed to another CPU
    # whether the last packet that was steered found room in its backlog
    accepted: cython.bint = False

    def __init__(
        self,
        rules: SteeringRules,
        backlogs: list[Backlog],
        costs: Costs,
        *,
        cpus: Sequence[int],
        flow_entries: int = 0,
        sockets: SocketFlowTable | None = None,
        seed: int = 0,
        device_hash: bool = False,
    ) -> None:
        for cpu in cpus:
            if not 0 <= cpu < len(backlogs):
                message = f"rps_cpus: CPU {cpu}, but the machine has 0 to {len(backlogs) - 1}"
                raise InputError(message)
        size = rounded_entries(flow_entries)
        self.rules = rules
        self.backlogs = backlogs
        self.costs = costs
        self.ledger = costs.ledger
        self.map = array("q", sorted(cpus) or [0])
        self.map_length = len(cpus)
        self.sockets = sockets
        self.flow_mask = size - 1
        self.flow_cpus = array("q", [-1]) * max(size, 1)
        self.flow_tails = array("q", [0]) * max(size, 1)
        self.flow_filters = array("q", [-1])
        self.steers = rules.hash_bits > 0 and (len(cpus) > 0 or size > 0)
        self.seed = seed
        self.device_hash = device_hash
        self.hash_bits = rules.hash_bits
        self.index_shift = rules.index_shift
        self.symmetric = rules.symmetric
        self.lookup3 = rules.lookup3
        self.spread = Spread(0, 0)

    def accelerate(self, accelerator: Accelerator, number: int) -> None:
        """Have a driver follow the flows of this queue, the `number`-th of its port."""
        self.accelerator = accelerator
        self.number = number
        self.flow_filters = array("q", [-1]) * (int(self.flow_mask) + 1 or 1)

    def fetch(self, skb: Skb) -> cython.int:
        """Ask for the flow's entries in both tables."""
        header: Header = skb.header
        if not cython.compiled or header is None or header.rxhash < 0 or self.sockets is None:
            return 0
        self.sockets.fetch(header.rxhash)
        if self.flow_mask >= 0:
            prefetch(cython.address(self.flow_cpus[header.rxhash & self.flow_mask]), 8)
            prefetch(cython.address(self.flow_tails[header.rxhash & self.flow_mask]), 8)
        return 0

    def deliver(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """Choose a CPU for the packet and queue it there, or take it up the stack here."""
        header: Header = skb.header
        work: cython.longlong = 0
        ip_ps: cython.longlong
        flow: cython.longlong = -1
        target: cython.longlong = _NO_CPU
        backlog: Backlog
        entries: PacketSteering
        if self.steers and header is not None:
            work = self.costs.rps_ps
            self.ledger.softirq += work
            if header.rxhash < 0:
                header.rxhash = self._hash(header)
            if self.flow_mask >= 0 and self.sockets is not None:
                flow = header.rxhash & self.flow_mask
                target = self._flow_target(header, flow)
            if target < 0:
                flow = -1
                if self.map_length > 0:
                    target = self.map[header.rxhash * self.map_length >> self.index_shift]
        if target < 0:
            self.local += 1
            ip_ps = self.spread.vary(self.costs.ip_rx_ps)
            self.ledger.driver += ip_ps
            return work + ip_ps + skb.endpoint.receive(skb, cpu)
        self.steered += 1
        backlog = self.backlogs[target]
        work += backlog.enqueue(skb, cpu)
        self.accepted = backlog.accepted
        if flow >= 0:
            self.by_flow += 1
            entries = self
            if self.elsewhere is not None:
                entries = self.elsewhere
                flow = header.rxhash & entries.flow_mask
                self.elsewhere = None
            if backlog.accepted:
                entries.flow_tails[flow] = backlog.tail
        return work

    def _hash(self, header: Header) -> cython.longlong:
        """`skb->rxhash`: never 0, in a field of `hash_bits`."""
        number: cython.longlong = 0
        if self.device_hash and header.rss_hash > 0:
            number = header.rss_hash & (_WORD >> (32 - self.hash_bits))
        if number == 0:
            number = connection_hash(
                header.source_ip,
                header.destination_ip,
                header.source_port,
                header.destination_port,
                self.seed,
                self.symmetric,
                self.lookup3,
            )
            number >>= 32 - self.hash_bits
        return number if number > 0 else 1

    def _flow_target(self, header: Header, flow: cython.longlong) -> cython.longlong:
        """The CPU of the flow's entry, which follows the process when that cannot reorder."""
        wanted: cython.longlong = self.sockets.wanted(header.rxhash)
        current: cython.longlong = self.flow_cpus[flow]
        backlog: Backlog
        if wanted == _NO_ENTRY:
            return _NO_CPU
        if current == wanted:
            return current
        if current >= 0:
            backlog = self.backlogs[current]
            if backlog.head < self.flow_tails[flow]:
                return current
        return self._set_cpu(header, flow, wanted)

    def _set_cpu(
        self, header: Header, flow: cython.longlong, cpu: cython.longlong
    ) -> cython.longlong:
        """`set_rps_cpu`: if a driver steers the flow, the entry is in the other queue's table."""
        entries: PacketSteering = self
        backlog: Backlog
        if cpu >= 0:
            if self.accelerator is not None:
                entries = self.accelerator.steer(self, header, cpu)
                if entries is not self:
                    self.elsewhere = entries
                    flow = header.rxhash & entries.flow_mask
            backlog = self.backlogs[cpu]
            entries.flow_tails[flow] = backlog.head
        if entries.flow_cpus[flow] != cpu:
            entries.moves += 1
        entries.flow_cpus[flow] = cpu
        return cpu
