"""What TCP costs a connection's host: segments, copies to and from the user, freed buffers.

Source: net/ipv4/tcp.c (`tcp_recvmsg`, `tcp_sendmsg`), tcp_input.c (`tcp_clean_rtx_queue`),
tcp_output.c, net/core/datagram.c and mm/page_alloc.c of Linux 2.6.18 to 6.18. When each step is
taken is the matter of `simnet.net.tcp.socket`.
"""

from __future__ import annotations

import cython

from simnet.host.cache import CacheWays
from simnet.host.costs import Buffers, Costs, Memory, Spread
from simnet.host.cpu import Cpu
from simnet.host.dma.iommu import DmaDomain
from simnet.host.ledger import Ledger
from simnet.net.link.skb import Port, Skb, SkbQueue
from simnet.net.tcp.receive.receiver import TcpReceiver
from simnet.net.tcp.send.sequence import SendSequence

_ALL_PERMILLE: cython.longlong = 1000


@cython.final
@cython.cclass
class ReceiveCosts:
    """Those of one connection, and where what its receive queue holds was put and written.

    Args:
        costs, memory: of the host.
        buffers: of the host.
        receiver: of the connection.
        backlog: of the connection.
        device_node: of the device that segments come by.
        checksum_by_cpu: the device verifies none.
        page_bytes: of a page of receive buffers, 0 where pages are not told apart from other work.
        spread: of TCP's work on a segment with data.
    """

    costs: Costs = None
    ledger: Ledger = None
    memory: Memory = None
    buffers: Buffers = None
    receiver: TcpReceiver = None
    backlog: SkbQueue = None
    checksums: cython.bint = False
    page_bytes: cython.int = 0
    spread: Spread = None
    cache: CacheWays = None
    waiting: cython.longlong = 0
    home_node: cython.int = 0
    writer_node: cython.int = 0
    toucher: Cpu = None
    merged_bytes: cython.longlong = 0
    collapses: cython.longlong = 0  # how often the receive queue was copied into fewer buffers

    def __init__(
        self,
        costs: Costs,
        memory: Memory,
        buffers: Buffers,
        receiver: TcpReceiver,
        backlog: SkbQueue,
        device_node: cython.int,
        checksum_by_cpu: cython.bint,
        page_bytes: cython.int,
        spread: Spread,
    ) -> None:
        self.costs = costs
        self.ledger = costs.ledger
        self.memory = memory
        self.buffers = buffers
        self.receiver = receiver
        self.backlog = backlog
        self.checksums = checksum_by_cpu
        self.page_bytes = page_bytes
        self.spread = spread
        self.cache = memory.caches[device_node] if memory.caches else None
        self.home_node = device_node
        self.writer_node = device_node

    def segment_ps(self, skb: Skb, cpu: Cpu, copying: cython.bint) -> cython.longlong:
        """Work of TCP on one segment, its copy to the user included if `copying`."""
        length: cython.longlong = skb.end_seq - skb.seq
        work: cython.longlong
        elsewhere: cython.longlong = 0
        if skb.toucher is not cpu:
            elsewhere = self.buffers.freed_ps(cpu, skb.toucher)
        if length == 0:
            self.ledger.tcp_ack += self.costs.ack_rx_ps
            return self.costs.ack_rx_ps + elsewhere
        work = self.costs.tcp_rx_ps
        if copying:
            work += self.costs.skb_free_ps
            self.ledger.skb_freed += self.costs.skb_free_ps
            elsewhere += self.copy_ps(cpu, length, skb.home_node, skb.writer_node)
        if self.checksums:
            elsewhere += self.costs.checksum_ps(length)
        work = self.spread.vary(work + elsewhere)
        self.ledger.tcp_receive += work - elsewhere
        return work

    @cython.cfunc
    def queued(self, skb: Skb) -> cython.int:
        """A segment goes to the receive queue: its place counts for all that the queue holds."""
        self.home_node = skb.home_node
        self.writer_node = skb.writer_node
        self.toucher = skb.toucher
        # segments that the driver has merged are freed as one
        self.merged_bytes = skb.end_seq - skb.seq if skb.segment_bytes > 0 else 0
        return 0

    def copy_ps(
        self,
        cpu: Cpu,
        length: cython.longlong,
        home_node: cython.int,
        writer_node: cython.int,
    ) -> cython.longlong:
        """Copy `length` bytes that a device of `writer_node` put into `home_node`'s memory."""
        lines_ps: cython.longlong = self.costs.lines(length) * self.costs.copy_line_ps
        waiting: cython.longlong
        if self.cache is not None:
            waiting = self._waiting()
            self.cache.waiting += waiting - self.waiting
            self.waiting = waiting
        self.ledger.copy += lines_ps
        return lines_ps + self.memory.received_ps(
            cpu, self.costs, self.cache, length, home_node, writer_node
        )

    def _waiting(self) -> cython.longlong:
        """Bytes that have come and wait to be copied, the backlog's included."""
        last: cython.longlong = self.receiver.seq.rcv_nxt
        if self.backlog.count > 0 and self.backlog.tail.end_seq > last:
            last = self.backlog.tail.end_seq
        return last - self.receiver.seq.copied_seq

    def queued_copy_ps(self, cpu: Cpu, length: cython.longlong) -> cython.longlong:
        """Copy from the receive queue, buffers freed."""
        each: cython.longlong = self.receiver.delack.rcv_mss
        segments: cython.longlong
        work: cython.longlong
        if self.merged_bytes > each:
            each = self.merged_bytes
        segments = (length + each - 1) // each
        self.ledger.tcp_receive += segments * self.costs.skb_free_ps
        self.ledger.skb_freed += segments * self.costs.skb_free_ps
        work = segments * self.costs.skb_free_ps
        if self.page_bytes > 0:
            work += self._freed_pages_ps(cpu, length, segments)
        return work + self.copy_ps(cpu, length, self.home_node, self.writer_node)

    def _freed_pages_ps(
        self, cpu: Cpu, length: cython.longlong, segments: cython.longlong
    ) -> cython.longlong:
        """The reader gives back pages and `sk_buff` that another CPU may have written last.

        Pages from another CPU fill this one's list, which gives them to the zone
        (mm/page_alloc.c `free_pcppages_bulk`).
        """
        each: cython.longlong = self.receiver.delack.rcv_mss
        pages: cython.longlong = (
            (length + each - 1) // each * ((each + self.page_bytes - 1) // self.page_bytes)
        )
        work: cython.longlong = pages * self.costs.rx_page_ps // 2
        lines: cython.longlong = 0
        if self.toucher is not None and self.toucher is not cpu:
            work += pages * self.costs.page_zone_ps
            work += self.memory.dirty_lines_ps(cpu, self.toucher, pages)
            lines = segments * self.buffers.freed_ps(cpu, self.toucher)
        self.ledger.pages += work
        return work + lines

    @cython.cfunc
    def collapsed_ps(self) -> cython.longlong:
        """`tcp_collapse`: what copying the receive queue into fewer buffers has cost."""
        work: cython.longlong = (
            self.costs.lines(self.receiver.memory.take_collapsed()) * self.costs.copy_line_ps
        )
        self.collapses += 1
        self.ledger.tcp_receive += work
        return work


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
