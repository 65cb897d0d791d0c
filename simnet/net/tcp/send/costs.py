"""What sending costs a connection's host: the copy from the user, segments, and their release.

Source: net/ipv4/tcp.c (`tcp_sendmsg`), tcp_output.c and tcp_input.c (`tcp_clean_rtx_queue`) of
Linux 2.6.18 to 6.18. When each step is taken is the matter of `simnet.net.tcp.socket`.
"""

from __future__ import annotations

import cython

from simnet.host.buffers import Buffers
from simnet.host.cache import CacheWays
from simnet.host.costs import Costs
from simnet.host.cpu import Cpu
from simnet.host.dma.iommu import DmaDomain
from simnet.host.ledger import Ledger
from simnet.host.memory import Memory
from simnet.net.link.skb import Skb, SkbQueue
from simnet.net.link.wire import Port
from simnet.net.tcp.send.sequence import SendSequence

_ALL_PERMILLE: cython.longlong = 1000


@cython.final
@cython.cclass
class SendCosts:
    """Those of one connection.

    Args:
        costs, memory: of the host.
        buffers: of the host.
        seq: what the connection has written and sent.
        nic: device that segments leave by.
        checksum_by_cpu: the device computes none.
        gso: large segments are cut before they come to the device.
        per_large: segments that share an `sk_buff` of the send queue.
    """

    costs: Costs = None
    ledger: Ledger = None
    memory: Memory = None
    buffers: Buffers = None
    seq: SendSequence = None
    nic: Port = None
    checksums: cython.bint = False
    gso: cython.bint = False
    per_large: cython.int = 0
    core_cache: CacheWays = None
    toucher: Cpu = None

    def __init__(
        self,
        costs: Costs,
        memory: Memory,
        buffers: Buffers,
        seq: SendSequence,
        nic: Port,
        checksum_by_cpu: cython.bint,
        gso: cython.bint,
        per_large: cython.int,
    ) -> None:
        self.costs = costs
        self.ledger = costs.ledger
        self.memory = memory
        self.buffers = buffers
        self.seq = seq
        self.nic = nic
        self.checksums = checksum_by_cpu
        self.gso = gso
        self.per_large = per_large
        self.core_cache = memory.core_cache

    @cython.cfunc
    def leave_by(self, nic: Port) -> cython.int:
        """Segments leave by another device from now on."""
        self.nic = nic
        return 0

    def copy_ps(self, cpu: Cpu, length: cython.longlong) -> cython.longlong:
        """Copy `length` bytes of the user into buffers that the port's device has read before.

        Each line has to be taken back from the device's node before it can be written. Stores are
        carried out in order: nothing overlaps, unless the CPU asks for lines ahead of its stores.
        The user's own buffers are small and stay in the cache.
        """
        lines: cython.longlong = self.costs.lines(length)
        far_ps: cython.longlong = lines * (self.memory.beyond_ps(cpu, cpu.node, self.nic.node))
        copy_ps: cython.longlong = lines * self.costs.copy_line_ps
        far_ps = self.costs.storing_ps(far_ps)
        if self.core_cache is not None:
            copy_ps = max(copy_ps + self._written_back_ps(lines), 0)
        self.ledger.copy += copy_ps
        self.ledger.copy_lines += far_ps
        if self.checksums:
            far_ps += self.costs.checksum_ps(length)
        return copy_ps + far_ps

    def _written_back_ps(self, lines: cython.longlong) -> cython.longlong:
        """What copying to the send queue costs beyond `copy_line`; less than 0: what it saves.

        Pages that were acknowledged last are written first. Since a line was written before, all
        that is queued has been. If the private cache has lost it, it comes from the next one, and a
        line that was written goes there: two transfers, where `copy_line` has one. If it has not,
        there is none.
        """
        cache: CacheWays = self.core_cache
        moved: cython.longlong
        cache.waiting = self.seq.write_seq - self.seq.snd_una
        moved = 2 * lines * cache.lost_permille() // _ALL_PERMILLE
        return self.costs.overlapping_ps(moved * cache.miss_ps) - self.costs.overlapping_ps(
            lines * cache.miss_ps
        )

    @cython.cfunc
    def staged_ps(self, cpu: Cpu, staged: SkbQueue, frames: cython.longlong) -> cython.longlong:
        """Make the segments of `staged` on `cpu`, `frames` of them, and pass them to the driver."""
        work: cython.longlong = 0
        skb: Skb
        if staged.count > 0:
            self.toucher = cpu
            work = frames * self.costs.tcp_tx_ps
            self.ledger.tcp_send += work
        if self.gso and frames > 0:
            # what the NIC does not cut is cut before the driver
            frames = staged.count
            self.ledger.tcp_send += frames * self.costs.gso_ps
            work += frames * self.costs.gso_ps
        while frames > 0:
            # TCP, IP and driver for one segment, or one large one that the NIC cuts
            work += self.nic.transmit_cost_ps(cpu)
            frames -= 1
        if self.nic.domain is not None and staged.count > 0:
            work += self._mapped_ps(staged)
        if self.nic.copies:
            # a CPU copies each to the port
            skb = staged.head
            while skb is not None:
                work += self.nic.length_cost_ps(cpu, skb.wire_bytes)
                skb = skb.next
        return work

    def _mapped_ps(self, staged: SkbQueue) -> cython.longlong:
        """Map the buffers of the send queue that hold what is sent."""
        domain: DmaDomain = self.nic.domain
        buffers: cython.longlong = 0
        length: cython.longlong = 0
        segments: cython.int = 0
        skb: Skb = staged.head
        while skb is not None:
            length += skb.end_seq - skb.seq
            segments += 1
            if segments == self.per_large or skb.next is None:
                buffers += domain.fragments(length)
                length = 0
                segments = 0
            skb = skb.next
        return domain.map_ps(buffers)

    @cython.cfunc
    def probed(self, cpu: Cpu) -> cython.int:
        """A timer on `cpu` has made a probe; its work is that of the timer."""
        self.toucher = cpu
        return 0

    @cython.cfunc
    def ack_ps(self, cpu: Cpu, wire_bytes: cython.int) -> cython.longlong:
        """Make a pure ACK and pass it to the driver."""
        work: cython.longlong = self.costs.ack_tx_ps + self.nic.transmit_cost_ps(cpu)
        if self.nic.copies:
            work += self.nic.length_cost_ps(cpu, wire_bytes)
        self.ledger.tcp_ack += self.costs.ack_tx_ps
        return work

    @cython.cfunc
    def freed_ps(self, cpu: Cpu, acked: cython.longlong) -> cython.longlong:
        """`tcp_clean_rtx_queue`: fetch the lines of `acked` segments from who sent them."""
        work: cython.longlong = 0
        acked = (acked + self.per_large - 1) // self.per_large
        while acked > 0 and self.toucher is not cpu:
            acked -= 1
            work += self.buffers.freed_ps(cpu, self.toucher)
        return work
