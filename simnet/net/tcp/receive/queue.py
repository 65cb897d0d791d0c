"""What a connection has received: sequence numbers, memory, and where segments wait for a reader.

Source: RFC 9293, 3.3.1; include/net/tcp.h (`tcp_receive_window`, `tcp_prequeue`) and
net/ipv4/tcp_input.c (`tcp_sequence`) of Linux; include/linux/tcp.h (`struct tcp_sock`, `ucopy`) and
net/ipv4/tcp.c (`tcp_recvmsg`) of 2.6.18.

Memory: `__alloc_skb`, `skb_try_coalesce` (net/core/skbuff.c) and `tun_alloc_skb`
(drivers/net/tun.c). A device with buffers of one size charges each segment with it; one that
allocates by length takes the next slab: powers of two, and one size for small heads. Memory is
given back when the last byte of an `sk_buff` has been read.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.net.link.skb import Skb, SkbQueue
from simnet.net.tcp.rules.receiver_version import ReceiverRules

_SHARED_INFO: cython.int = 320
_SK_BUFF: cython.int = 256
# skb_small_head_cache of a kernel without wireless networks; 640 with them
_SMALL_HEAD: cython.int = 576
_LINE: cython.int = 64
_PAD: cython.int = 64  # NET_SKB_PAD, before the headers


@cython.final
@cython.no_gc
@cython.cclass
class ReceiveSequence:
    """Sequence numbers of what one connection receives; they do not wrap.

    Args:
        rules: of the kernel's version.
        rcv_wnd: the first window offered, bytes.
    """

    rcv_nxt: cython.longlong = 0  # first byte that has not come
    copied_seq: cython.longlong = 0  # first byte that has not been read
    rcv_wup: cython.longlong = 0  # `rcv_nxt` of the last ACK sent
    rcv_wnd: cython.longlong = 0  # the window offered with it, bytes
    rule_strict_window: cython.bint = False

    def __init__(
        self,
        rules: ReceiverRules,
        rcv_wnd: cython.longlong,
    ) -> None:
        self.rule_strict_window = rules.strict_window
        self.rcv_wnd = rcv_wnd
        self.start(0)

    def start(self, seq: cython.longlong) -> cython.int:
        """The first byte will be `seq`."""
        self.rcv_nxt = self.rcv_wup = self.copied_seq = seq
        return 0

    @cython.cfunc
    def received(self, end_seq: cython.longlong, direct: cython.bint) -> cython.int:
        """All bytes before `end_seq` have come; `direct`: the last ones straight to the reader."""
        self.rcv_nxt = end_seq
        if direct:
            self.copied_seq = end_seq
        return 0

    @cython.cfunc
    def copied(self, count: cython.longlong) -> cython.int:
        """The reader has taken `count` bytes."""
        self.copied_seq += count
        return 0

    @cython.cfunc
    def offered(self, window: cython.longlong) -> cython.int:
        """An ACK with `window` goes out."""
        self.rcv_wnd = window
        self.rcv_wup = self.rcv_nxt
        return 0

    def readable(self) -> cython.longlong:
        """Bytes in the receive queue."""
        return self.rcv_nxt - self.copied_seq

    @cython.cfunc
    def limit(self) -> cython.longlong:
        """First byte beyond the window that was offered; never before `rcv_nxt`."""
        limit: cython.longlong = self.rcv_wup + self.rcv_wnd
        return limit if limit > self.rcv_nxt else self.rcv_nxt

    def room(self) -> cython.longlong:
        """`tcp_receive_window`: what is left of the window that was offered."""
        return self.limit() - self.rcv_nxt

    def acceptable(self, seq: cython.longlong, end_seq: cython.longlong) -> cython.bint:
        """`tcp_sequence`: whether anything of a segment counts, its ACK included."""
        limit: cython.longlong = self.limit()
        if seq > limit or end_seq < self.rcv_wup:
            return False
        return end_seq <= limit or not self.rule_strict_window or self.rcv_nxt == self.copied_seq


@cython.final
@cython.cclass
class SkbSizes:
    """What a segment is charged with."""

    buffer_bytes: cython.longlong = 0  # `truesize` of any segment; 0: by its length
    # payload of a full segment; what is longer was merged by the driver, and takes several
    # buffers
    part_bytes: cython.longlong = 0
    header_bytes: cython.longlong = 0  # IP and TCP headers with options, before the payload

    def __init__(
        self, buffer_bytes: int = 0, header_bytes: int = 40, part_bytes: int = 65_536
    ) -> None:
        self.buffer_bytes = buffer_bytes
        self.part_bytes = part_bytes
        self.header_bytes = header_bytes

    def _slab(self, length: cython.longlong) -> cython.longlong:
        """Bytes of the slab object that holds the head."""
        wanted: cython.longlong = _PAD + self.header_bytes + length
        size: cython.longlong = 1024
        wanted = (wanted + _LINE - 1) // _LINE * _LINE + _SHARED_INFO
        if wanted <= _SMALL_HEAD:
            return _SMALL_HEAD
        while size < wanted:
            size <<= 1
        return size

    def truesize(self, length: cython.longlong) -> cython.longlong:
        """Memory that a segment of `length` bytes, or several merged ones, is charged for."""
        if length <= 0:
            return 0
        if self.buffer_bytes > 0:
            if length <= self.part_bytes:
                return self.buffer_bytes
            return (length + self.part_bytes - 1) // self.part_bytes * self.buffer_bytes
        return self._slab(length) + _SK_BUFF

    def tailroom(self, length: cython.longlong) -> cython.longlong:
        """Bytes free behind a segment of `length` bytes, where a further one may go."""
        if self.buffer_bytes > 0:
            return 0
        return self._slab(length) - _SHARED_INFO - _PAD - self.header_bytes - length


@cython.final
@cython.no_gc
@cython.cclass
class ReceiveQueue:
    """`sk_receive_queue`: segments in order, as runs of equal ones."""

    memory: cython.longlong = 0  # `truesize` of all of them, bytes
    first_left: cython.longlong = 0
    head_length: cython.longlong = 0
    head_memory: cython.longlong = 0
    head_count: cython.longlong = 0
    tail_length: cython.longlong = 0
    tail_memory: cython.longlong = 0
    tail_count: cython.longlong = 0
    middle: list[Any] | None = None
    last_room: cython.longlong = 0

    def append(
        self, length: cython.longlong, memory: cython.longlong, room: cython.longlong
    ) -> cython.int:
        """Add a segment; `room` bytes are free behind it."""
        self.memory += memory
        self.last_room = room
        if self.head_count == 0:
            self.head_length = length
            self.head_memory = memory
            self.head_count = 1
            self.first_left = length
        elif self.tail_count > 0:
            if length == self.tail_length and memory == self.tail_memory:
                self.tail_count += 1
            else:
                self._to_middle(self.tail_length, self.tail_memory, self.tail_count)
                self._new_tail(length, memory)
        elif length == self.head_length and memory == self.head_memory:
            self.head_count += 1
        else:
            self._new_tail(length, memory)
        return 0

    def _to_middle(
        self, length: cython.longlong, memory: cython.longlong, count: cython.longlong
    ) -> cython.int:
        """Put what lies between head and tail in its place."""
        if self.middle is None:
            self.middle = []
        self.middle.append((length, memory, count))
        return 0

    def _new_tail(self, length: cython.longlong, memory: cython.longlong) -> cython.int:
        """Begin a buffer at the end."""
        self.tail_length = length
        self.tail_memory = memory
        self.tail_count = 1
        return 0

    def coalesce(self, length: cython.longlong) -> cython.bint:
        """`skb_try_coalesce`: put a segment behind the last one if it has room there."""
        memory: cython.longlong
        before: cython.longlong
        if self.head_count == 0 or length > self.last_room:
            return False
        self.last_room -= length
        if self.tail_count > 0:
            before = self.tail_length
            memory = self.tail_memory
            self.tail_count -= 1
            if self.tail_count > 0:
                self._to_middle(before, memory, self.tail_count)
            self._new_tail(before + length, memory)
        elif self.head_count > 1:
            self.head_count -= 1
            self._new_tail(self.head_length + length, self.head_memory)
        else:
            self.head_length += length
            self.first_left += length
        return True

    def collapse(self, length: cython.longlong, memory: cython.longlong) -> cython.longlong:
        """`tcp_collapse`: copy all segments into ones of `length` bytes and `memory` each.

        Return how many bytes were copied; nothing happens where that saves nothing.
        """
        payload: cython.longlong = self.first_left
        segments: cython.longlong
        if self.head_count > 0:
            payload += (self.head_count - 1) * self.head_length
        for each, _, count in self.middle or ():
            payload += each * count
        payload += self.tail_length * self.tail_count
        segments = (payload + length - 1) // length
        if payload == 0 or segments * memory >= self.memory:
            return 0
        self.memory = segments * memory
        self.middle = None
        self.last_room = 0
        self.head_memory = memory
        self.head_length = min(length, payload)
        self.head_count = segments
        self.first_left = self.head_length
        self.tail_count = 0
        if segments > 1 and payload % length > 0:
            self.head_count -= 1
            self._new_tail(payload % length, memory)
        return payload

    def segments(self, seq: int) -> list[tuple[int, int, int, int]]:
        """All of them: first byte, last plus one, memory, 0; `seq` is the first unread."""
        runs = [(self.head_length, self.head_memory, self.head_count), *(self.middle or ())]
        runs.append((self.tail_length, self.tail_memory, self.tail_count))
        seq -= self.head_length - self.first_left
        found = []
        for length, memory, count in runs:
            for _ in range(count):
                found.append((seq, seq + length, memory, 0))
                seq += length
        return found

    def replace(self, segments: list[tuple[int, int, int, int]], seq: int) -> None:
        """Have these in place of all; `seq` is the first unread byte."""
        self.head_count = self.tail_count = 0
        self.memory = 0
        self.middle = None
        for first, last, memory, room in segments:
            self.append(last - first, memory, room)
        self.first_left -= seq - segments[0][0]

    def take(self, count: cython.longlong) -> cython.longlong:
        """The reader takes up to `count` bytes of the first segment; return how many.

        Its memory stays charged until `release`.
        """
        count = min(count, self.first_left)
        self.first_left -= count
        return count

    def release(self) -> cython.int:
        """Free the first segment if all of it has been read."""
        if self.first_left > 0 or self.head_count == 0:
            return 0
        self.memory -= self.head_memory
        self.head_count -= 1
        if self.head_count == 0:
            if self.tail_count == 0:
                # then there is nothing between head and tail either
                return 0
            if self.middle:
                self.head_length, self.head_memory, self.head_count = self.middle.pop(0)
            else:
                self.head_length = self.tail_length
                self.head_memory = self.tail_memory
                self.head_count = self.tail_count
                self.tail_count = 0
        self.first_left = self.head_length
        return 0

    def consume(self, count: cython.longlong) -> cython.int:
        """The reader takes `count` bytes; what has been read to the end is freed."""
        while count > 0:
            if count < self.first_left:
                self.first_left -= count
                return 0
            count -= self.first_left
            self.first_left = 0
            self.release()
        return 0


@cython.final
@cython.cclass
class Ucopy:
    """That of one socket."""

    installed: cython.bint = False  # a reader is in recv (`ucopy.task`)
    room: cython.longlong = 0  # of its buffer, bytes (`ucopy.len`)
    prequeue: SkbQueue = None  # segments that wait for it
    memory: cython.longlong = 0  # their true size, bytes
    prequeued: cython.longlong = 0  # how many there have been

    def __init__(self) -> None:
        self.prequeue = SkbQueue()

    def install(self, room: cython.longlong) -> cython.int:
        """A reader is in recv and has so much room."""
        self.installed = True
        self.room = room
        return 0

    def remove(self) -> cython.int:
        """It leaves recv."""
        self.installed = False
        self.room = 0
        return 0

    @cython.cfunc
    def copied(self, length: cython.longlong) -> cython.int:
        """TCP has put data straight into the buffer."""
        self.room -= length
        return 0

    @cython.cfunc
    def append(self, skb: Skb, truesize: cython.longlong) -> cython.int:
        """A segment waits for the reader."""
        self.prequeue.append(skb)
        self.prequeued += 1
        self.memory += truesize
        return 0

    @cython.cfunc
    def emptied(self) -> cython.int:
        """No segment waits any more."""
        self.memory = 0
        return 0
