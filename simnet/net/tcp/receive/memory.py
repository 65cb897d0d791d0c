"""Memory for a segment whose connection has used up its receive buffer.

Source: net/ipv4/tcp_input.c of Linux (`tcp_try_rmem_schedule`, `tcp_prune_queue`,
`tcp_prune_ofo_queue`, `tcp_collapse`), by version (`ReceiverRules`).
"""

from __future__ import annotations

import cython

from simnet.net.tcp.receive.prune import collapsed, collapsed_ranges, pruned
from simnet.net.tcp.receive.queue import ReceiveQueue, ReceiveSequence
from simnet.net.tcp.receive.reassembly import Reassembly
from simnet.net.tcp.receive.window import ReceiveWindow
from simnet.net.tcp.rules.receiver_version import ReceiverRules

# tcp_collapse, SKB_MAX_ORDER: what a page holds besides headers and skb_shared_info, and `truesize`
_PACKED_BYTES: cython.longlong = 3712
_PACKED_MEMORY: cython.longlong = 4096


@cython.final
@cython.no_gc
@cython.cclass
class ReceiveMemory:
    """Finds room for a segment: a wider buffer, segments copied together, some dropped.

    Args:
        rules: of the kernel's version.
        window: with the buffer and what is in it.
        seq: of the connection.
    """

    window: ReceiveWindow = None
    seq: ReceiveSequence = None
    queue: ReceiveQueue = None
    held: Reassembly = None
    rule_collapses: cython.bint = False
    rule_keeps_lower: cython.bint = False
    prune_batches: cython.int = 0
    wasted_memory: cython.longlong = 0
    collapsed: cython.longlong = 0  # bytes copied that no CPU has been charged for

    def __init__(
        self,
        rules: ReceiverRules,
        window: ReceiveWindow,
        seq: ReceiveSequence,
    ) -> None:
        self.window = window
        self.seq = seq
        self.queue = window.queue
        self.held = window.held
        self.rule_collapses = rules.collapses
        self.rule_keeps_lower = rules.keeps_lower
        self.prune_batches = rules.prune_batches
        self.wasted_memory = window.sizes.truesize(window.advmss)

    @cython.cfunc
    def take_collapsed(self) -> cython.longlong:
        """Bytes copied that no CPU has been charged for; now one is."""
        length: cython.longlong = self.collapsed
        self.collapsed = 0
        return length

    @cython.cfunc
    def schedule(self, seq: cython.longlong) -> cython.bint:
        """`tcp_try_rmem_schedule` for a segment that begins at `seq`, the buffer being full."""
        if self.window.full_buffer():
            return True
        if self.rule_collapses:
            if self.window.from_space(self.wasted_memory) > self.window.advmss:
                self.collapsed += self.queue.collapse(_PACKED_BYTES, _PACKED_MEMORY)
        else:
            self._collapse()
        if self.held.count > 0 and self.window.allocated() > self.window.rcvbuf:
            self._prune(seq)
        return self.window.allocated() <= self.window.rcvbuf

    def _collapse(self) -> None:
        """`tcp_collapse_ofo_queue` and `tcp_collapse`."""
        unread = self.seq.copied_seq
        self.held.replace(collapsed_ranges(self.held.segments, self.window), forget=False)
        segments = self.queue.segments(unread)
        packed = collapsed(segments, unread, self.window)
        if packed is not segments:
            kept = sum(segment in segments for segment in packed)
            self.collapsed += self.seq.rcv_nxt - max(packed[kept][0], unread)
            self.queue.replace(packed, unread)

    def _prune(self, seq: int) -> None:
        """`tcp_prune_ofo_queue`."""
        if self.prune_batches == 0:
            self.held.purge()
            return
        batch = self.window.rcvbuf >> 3 if self.prune_batches > 1 else 0
        spare = self.window.rcvbuf - self.queue.memory
        left = pruned(self.held.segments, seq if self.rule_keeps_lower else -1, spare, batch)
        if len(left) < self.held.count:
            self.held.replace(left, forget=True)
