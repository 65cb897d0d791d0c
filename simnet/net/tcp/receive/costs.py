"""What receiving costs a connection's host: TCP on a segment, the copy to the user, freed buffers.

Source: net/ipv4/tcp_input.c, tcp.c (`tcp_recvmsg`), net/core/datagram.c and mm/page_alloc.c of
Linux 2.6.18 to 6.18. When each step is taken is the matter of `simnet.net.tcp.socket`.
"""

from __future__ import annotations

import cython

from simnet.host.buffers import Buffers
from simnet.host.cache import CacheWays
from simnet.host.costs import Costs, Spread
from simnet.host.cpu import Cpu
from simnet.host.ledger import Ledger
from simnet.host.memory import Memory
from simnet.net.link.skb import Skb, SkbQueue
from simnet.net.tcp.receive.receiver import TcpReceiver


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

    Attributes:
        collapses: how often the receive queue was copied into fewer buffers.
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
    collapses: cython.longlong = 0

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
