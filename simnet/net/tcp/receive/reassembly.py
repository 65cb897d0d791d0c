"""Segments ahead of a hole, and what the SACK option says of them.

Source: net/ipv4/tcp_input.c of Linux (`tcp_data_queue_ofo`, `tcp_ofo_queue`,
`tcp_sack_new_ofo_skb`, `tcp_sack_remove`, `tcp_dsack_set`), RFC 2018, RFC 2883. Blocks are
(first byte, last plus one), the newest first. At most four are remembered.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import cython

from simnet.net.tcp.receive.queue import ReceiveQueue, SkbSizes

_MOST_BLOCKS: cython.int = 4
# TCP_SACK_BLOCKS_EXPECTED
_EXPECTED_BLOCKS: cython.int = 2
# shared by all that hold nothing, as most do from their first byte to their last
_NOTHING = cython.declare(list[Any], [])


@cython.final
@cython.no_gc
@cython.cclass
class Reassembly:
    """`out_of_order_queue` with `selective_acks` and `duplicate_sack`."""

    memory: cython.longlong = 0  # `truesize` of all segments, bytes
    duplicate: tuple[int, int] | None = None  # the D-SACK block to be sent, or None
    count: cython.int = 0  # of the segments
    kept: cython.bint = False  # whether the last segment was, or all of it was there before
    added: cython.longlong = 0  # memory of the last segment; 0 if it went behind another one
    sizes: SkbSizes = None  # what a segment is charged with
    coalesces: cython.bint = False  # small segments go into free room behind the one before
    segments: list[Any] = None  # (first byte, last plus one, memory, free room), in order
    blocks: list[Any] = None  # `selective_acks`
    # the blocks as they were when ACKs that had been held back went out
    stale: list[Any] | None = None

    def __init__(self, sizes: SkbSizes, *, coalesces: cython.bint) -> None:
        self.sizes = sizes
        self.coalesces = coalesces
        self.segments = _NOTHING
        self.blocks = _NOTHING
        self.kept = True

    def repeated(self, seq: cython.longlong, end_seq: cython.longlong) -> cython.int:
        """`tcp_dsack_set`: these bytes have come twice."""
        self.duplicate = (seq, end_seq)
        return 0

    def _extend(self, seq: cython.longlong, end_seq: cython.longlong) -> cython.int:
        """`tcp_dsack_extend`."""
        first: cython.longlong
        last: cython.longlong
        if self.duplicate is None:
            self.duplicate = (seq, end_seq)
            return 0
        first, last = self.duplicate
        if seq <= last and first <= end_seq:
            self.duplicate = (min(first, seq), max(last, end_seq))
        return 0

    def insert(
        self, seq: cython.longlong, end_seq: cython.longlong, compressed: cython.int
    ) -> cython.bint:
        """Keep a segment ahead of the hole.

        Args:
            seq: its first byte.
            end_seq: its last byte plus one.
            compressed: how many ACKs are held back.

        Returns:
            Whether those are to be sent now, with the blocks in `stale`, before this segment.
        """
        memory: cython.longlong
        at: cython.int
        self.kept = True
        self.added = 0
        if self.segments is _NOTHING:
            self.segments = []
        if self.blocks is _NOTHING:
            self.blocks = []
        at = bisect_left(self.segments, (seq + 1,))
        if at > 0 and (
            self._behind(at - 1, seq, end_seq) or (at > 1 and self._behind(at - 2, seq, end_seq))
        ):
            return self._new_block(seq, end_seq, compressed)
        if at > 0 and seq < self.segments[at - 1][1]:
            if end_seq <= self.segments[at - 1][1]:
                self.kept = False
                self.duplicate = (seq, end_seq)
                return self._new_block(seq, end_seq, compressed)
            if seq > self.segments[at - 1][0]:
                self.duplicate = (seq, self.segments[at - 1][1])
            else:
                at -= 1
        self._add(at, seq, end_seq)
        at += 1
        while at < self.count and end_seq > self.segments[at][0]:
            if end_seq < self.segments[at][1]:
                self._extend(self.segments[at][0], end_seq)
                break
            self._extend(self.segments[at][0], self.segments[at][1])
            memory = self.segments[at][2]
            self.memory -= memory
            del self.segments[at]
            self.count -= 1
        return self._new_block(seq, end_seq, compressed)

    def _add(self, at: cython.int, seq: cython.longlong, end_seq: cython.longlong) -> cython.int:
        memory: cython.longlong = self.sizes.truesize(end_seq - seq)
        self.memory += memory
        self.added = memory
        self.count += 1
        self.segments.insert(at, (seq, end_seq, memory, self.sizes.tailroom(end_seq - seq)))
        return 0

    def _behind(
        self, at: cython.int, seq: cython.longlong, end_seq: cython.longlong
    ) -> cython.bint:
        """`tcp_ooo_try_coalesce`: whether the segment goes into the room behind one."""
        first, last, memory, room = self.segments[at]
        if not self.coalesces or last != seq or end_seq - seq > room:
            return False
        self.segments[at] = (first, end_seq, memory, room - (end_seq - seq))
        return True

    def _new_block(
        self, seq: cython.longlong, end_seq: cython.longlong, compressed: cython.int
    ) -> cython.bint:
        """`tcp_sack_new_ofo_skb`; return whether the ACKs held back go out now."""
        at: cython.int = 0
        flush: cython.bint
        first: cython.longlong
        last: cython.longlong
        while at < len(self.blocks):
            first, last = self.blocks[at]
            if seq <= last and first <= end_seq:
                self.blocks[at] = (min(first, seq), max(last, end_seq))
                flush = compressed > 0 and at >= _EXPECTED_BLOCKS
                if flush:
                    self.stale = list(self.blocks)
                self.blocks.insert(0, self.blocks.pop(at))
                self._join()
                return flush
            at += 1
        flush = compressed > 0 and at >= _EXPECTED_BLOCKS
        if flush:
            self.stale = list(self.blocks)
        if at >= _MOST_BLOCKS:
            self.blocks.pop()
        self.blocks.insert(0, (seq, end_seq))
        return flush

    def _join(self) -> cython.int:
        """`tcp_sack_maybe_coalesce`: the first block may have reached others."""
        at: cython.int = 1
        first: cython.longlong
        last: cython.longlong
        seq: cython.longlong
        end_seq: cython.longlong
        while at < len(self.blocks):
            first, last = self.blocks[0]
            seq, end_seq = self.blocks[at]
            if seq <= last and first <= end_seq:
                self.blocks[0] = (min(first, seq), max(last, end_seq))
                del self.blocks[at]
            else:
                at += 1
        return 0

    def release(self, rcv_nxt: cython.longlong, queue: ReceiveQueue) -> cython.longlong:
        """`tcp_ofo_queue`: move what is in order now to the receive queue; return `rcv_nxt`."""
        high: cython.longlong = rcv_nxt
        first: cython.longlong
        last: cython.longlong
        memory: cython.longlong
        room: cython.longlong
        while self.count > 0:
            first, last, memory, room = self.segments[0]
            if first > rcv_nxt:
                break
            if first < high:
                self._extend(first, min(last, high))
            self.memory -= memory
            del self.segments[0]
            self.count -= 1
            if last > rcv_nxt:
                if not (self.coalesces and first == rcv_nxt and queue.coalesce(last - first)):
                    queue.append(last - rcv_nxt, memory, room)
                rcv_nxt = last
        self.blocks = [block for block in self.blocks if block[0] > rcv_nxt]
        return rcv_nxt

    def replace(self, segments: list[tuple[int, int, int, int]], *, forget: bool) -> None:
        """Have these in place of all; `forget` what the SACK option says of them."""
        self.segments = segments
        self.count = len(segments)
        self.memory = sum(segment[2] for segment in segments)
        if forget:
            self.blocks = []
            self.duplicate = None

    def purge(self) -> cython.int:
        """Drop all segments for want of memory, and what was said of them."""
        self.segments = _NOTHING
        self.count = 0
        self.blocks = _NOTHING
        self.duplicate = None
        self.memory = 0
        return 0

    @cython.ccall
    def option(self, most: cython.int) -> list[Any]:
        """The SACK option of an ACK that goes out now: up to `most` blocks, D-SACK first."""
        found: list[Any]
        found = list(self.blocks) if self.stale is None else self.stale
        self.stale = None
        if self.duplicate is not None:
            found.insert(0, self.duplicate)
            self.duplicate = None
        return found[:most]
