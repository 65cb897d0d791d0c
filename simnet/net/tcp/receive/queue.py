"""The memory that received segments take: sizes of an `sk_buff`, and the receive queue.

Source: `__alloc_skb`, `skb_try_coalesce` (net/core/skbuff.c), `tun_alloc_skb` (drivers/net/tun.c)
and `tcp_recvmsg` of Linux. A device with buffers of one size charges each segment with it; one
that allocates by length takes the next slab: powers of two, and one size for small heads. Memory
is given back when the last byte of an `sk_buff` has been read.
"""

from __future__ import annotations

from typing import Any

import cython

_SHARED_INFO: cython.int = 320
_SK_BUFF: cython.int = 256
# skb_small_head_cache of a kernel without wireless networks; 640 with them
_SMALL_HEAD: cython.int = 576
_LINE: cython.int = 64


@cython.final
@cython.cclass
class SkbSizes:
    """What a segment is charged with.

    Args:
        buffer_bytes: `truesize` of any segment; 0: by its length.
        part_bytes: payload of a full segment; what is longer was merged by the driver, and takes
            several buffers.
        header_bytes: IP and TCP headers with options, before the payload.
        pad_bytes: NET_SKB_PAD, before the headers.
    """

    buffer_bytes: cython.longlong = 0
    part_bytes: cython.longlong = 0
    header_bytes: cython.longlong = 0
    pad_bytes: cython.longlong = 0

    def __init__(
        self,
        buffer_bytes: int = 0,
        header_bytes: int = 40,
        pad_bytes: int = 64,
        part_bytes: int = 65_536,
    ) -> None:
        self.buffer_bytes = buffer_bytes
        self.part_bytes = part_bytes
        self.header_bytes = header_bytes
        self.pad_bytes = pad_bytes

    def _slab(self, length: cython.longlong) -> cython.longlong:
        """Bytes of the slab object that holds the head."""
        wanted: cython.longlong = self.pad_bytes + self.header_bytes + length
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
        return self._slab(length) - _SHARED_INFO - self.pad_bytes - self.header_bytes - length


@cython.final
@cython.no_gc
@cython.cclass
class ReceiveQueue:
    """`sk_receive_queue`: segments in order, as runs of equal ones.

    Attributes:
        memory: `truesize` of all of them, bytes.
    """

    memory: cython.longlong = 0
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
