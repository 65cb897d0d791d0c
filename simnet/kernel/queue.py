"""Event queue: a monotone radix heap on integer picoseconds.

Order is total: time, then priority, then insertion. An entry whose time differs from that of
the last one taken lies in the bucket numbered by the highest bit in which the two differ
(Ahuja, Mehlhorn, Orlin, Tarjan, "Faster algorithms for the shortest path problem", JACM 37,
1990). Buckets are first-in first-out lists. When bucket 0 runs empty, the lowest bucket that is
not empty spreads over those below it, which are all empty then, front to back: entries of equal
time keep the order in which they came, and nothing is ever sorted. Bucket 0 holds one list for
each priority.

The lists are threaded through one array of 64-byte slots, so that a queue allocates nothing
while it runs and cancels in constant time. The first slots are the heads of the lists. The array
doubles when it is full and never shrinks; slots that become free are used again.
"""

from __future__ import annotations

from array import array
from typing import Any

import cython

from simnet.errors import SimulationError

if not cython.compiled:
    # Words of a slot, and sizes. The compiled queue has them as constants, in queue.pxd.
    TIME, NEXT, PREVIOUS, PRIORITY, TARGET, KIND, ARG, GENERATION, WIDTH = range(9)
    PRIORITIES = 4
    HEADS = PRIORITIES + 64
    FIRST_CAPACITY = 256
    # A handle is the number of a slot in its low bits, and how often that was freed above.
    SLOT_BITS = 24
    MOST_SLOTS = 1 << SLOT_BITS
    GENERATION_MASK = (1 << (63 - SLOT_BITS)) - 1

    def lowest_bit(word: int) -> int:
        """Return the index of the lowest bit set in `word`, which is not 0."""
        return (word & -word).bit_length() - 1

    def bit_length(word: int) -> int:
        """Return the index of the highest bit set in `word`, which is not 0, plus 1."""
        return word.bit_length()


class EventQueue:
    """Future events, each a time, a priority, a target, a kind and an argument, all integers.

    `last_ps` is the time of the last entry taken; nothing earlier may be pushed. `pending` is the
    number of entries. The queue trusts its caller, the simulator, which checks what it is given.
    """

    last_ps: cython.longlong
    pending: cython.longlong
    slots: Any
    capacity: cython.longlong
    free: cython.longlong
    far: cython.ulonglong
    near: cython.ulonglong

    def __init__(self) -> None:
        """Make an empty queue at time 0."""
        head: cython.longlong
        self.last_ps = 0
        self.pending = 0
        self.far = 0
        self.near = 0
        self.capacity = 0
        self.free = 0
        self.slots = array("q", bytes(8 * WIDTH * HEADS))
        for head in range(HEADS):
            self.slots[head * WIDTH + NEXT] = head
            self.slots[head * WIDTH + PREVIOUS] = head
        self.capacity = HEADS
        self._grow()

    def push(
        self,
        time_ps: cython.longlong,
        priority: cython.int,
        target: cython.longlong,
        kind: cython.int,
        arg: cython.longlong,
    ) -> cython.longlong:
        """Add an entry at `time_ps`, not before `last_ps`; return its handle, never 0."""
        slot: cython.longlong
        word: cython.longlong
        if self.free == 0:
            self._grow()
        slot = self.free
        word = slot * WIDTH
        self.free = self.slots[word + NEXT]
        self.slots[word + TIME] = time_ps
        self.slots[word + PRIORITY] = priority
        self.slots[word + TARGET] = target
        self.slots[word + KIND] = kind
        self.slots[word + ARG] = arg
        self.pending += 1
        self._append(slot)
        return (self.slots[word + GENERATION] << SLOT_BITS) | slot

    def take(self, limit_ps: cython.longlong) -> cython.longlong:
        """Unlink the first entry and return its slot; 0 if none is due by `limit_ps`.

        The slot's words stay valid until it is released. `last_ps` moves only to the time of an
        entry that is returned.
        """
        head: cython.longlong
        slot: cython.longlong
        after: cython.longlong
        bucket: cython.longlong
        one: cython.ulonglong = 1
        if self.near == 0:
            if self.far == 0:
                return 0
            bucket = lowest_bit(self.far)
            head = bucket + PRIORITIES - 1
            slot = self.slots[head * WIDTH + NEXT]
            if self.slots[head * WIDTH + PREVIOUS] == slot:
                if self.slots[slot * WIDTH + TIME] > limit_ps:
                    return 0
                self.last_ps = self.slots[slot * WIDTH + TIME]
                self.slots[head * WIDTH + NEXT] = head
                self.slots[head * WIDTH + PREVIOUS] = head
                self.far = self.far ^ (one << bucket)
                self.pending -= 1
                return slot
            if not self._spread(bucket, limit_ps):
                return 0
        elif self.last_ps > limit_ps:
            return 0
        head = lowest_bit(self.near)
        slot = self.slots[head * WIDTH + NEXT]
        after = self.slots[slot * WIDTH + NEXT]
        self.slots[head * WIDTH + NEXT] = after
        self.slots[after * WIDTH + PREVIOUS] = head
        if after == head:
            self.near = self.near ^ (one << head)
        self.pending -= 1
        return slot

    def release(self, slot: cython.longlong) -> None:
        """Free a slot that was taken or removed; its handles are stale from here on."""
        word: cython.longlong = slot * WIDTH
        self.slots[word + GENERATION] = (self.slots[word + GENERATION] + 1) & GENERATION_MASK
        self.slots[word + NEXT] = self.free
        self.free = slot

    def find(self, handle: cython.longlong) -> cython.longlong:
        """Return the slot of a handle's entry; 0 if that was taken or cancelled."""
        slot: cython.longlong = handle & (MOST_SLOTS - 1)
        if handle <= 0 or slot < HEADS or slot >= self.capacity:
            return 0
        if self.slots[slot * WIDTH + GENERATION] != handle >> SLOT_BITS:
            return 0
        return slot

    def remove(self, slot: cython.longlong) -> None:
        """Unlink an entry that is waiting, wherever it is."""
        before: cython.longlong = self.slots[slot * WIDTH + PREVIOUS]
        after: cython.longlong = self.slots[slot * WIDTH + NEXT]
        one: cython.ulonglong = 1
        self.slots[before * WIDTH + NEXT] = after
        self.slots[after * WIDTH + PREVIOUS] = before
        if before == after:
            # The list is empty, and `before` is its head.
            if before < PRIORITIES:
                self.near = self.near ^ (one << before)
            else:
                self.far = self.far ^ (one << (before - PRIORITIES + 1))
        self.pending -= 1

    def peek(self) -> cython.longlong:
        """Return the time of the first entry in ps, -1 if there is none. Nothing moves."""
        if self.near != 0:
            return self.last_ps
        if self.far == 0:
            return -1
        return self._earliest(lowest_bit(self.far))

    def _append(self, slot: cython.longlong) -> None:
        word: cython.longlong = slot * WIDTH
        difference: cython.ulonglong = self.slots[word + TIME] ^ self.last_ps
        one: cython.ulonglong = 1
        bucket: cython.longlong
        head: cython.longlong
        tail: cython.longlong
        if difference == 0:
            head = self.slots[word + PRIORITY]
            self.near = self.near | (one << head)
        else:
            bucket = bit_length(difference)
            head = bucket + PRIORITIES - 1
            self.far = self.far | (one << bucket)
        tail = self.slots[head * WIDTH + PREVIOUS]
        self.slots[word + NEXT] = head
        self.slots[word + PREVIOUS] = tail
        self.slots[tail * WIDTH + NEXT] = slot
        self.slots[head * WIDTH + PREVIOUS] = slot

    def _spread(self, bucket: cython.longlong, limit_ps: cython.longlong) -> cython.bint:
        head: cython.longlong = bucket + PRIORITIES - 1
        slot: cython.longlong
        after: cython.longlong
        one: cython.ulonglong = 1
        earliest_ps: cython.longlong = self._earliest(bucket)
        if earliest_ps > limit_ps:
            return False
        self.last_ps = earliest_ps
        slot = self.slots[head * WIDTH + NEXT]
        self.slots[head * WIDTH + NEXT] = head
        self.slots[head * WIDTH + PREVIOUS] = head
        self.far = self.far ^ (one << bucket)
        while slot != head:
            after = self.slots[slot * WIDTH + NEXT]
            self._append(slot)
            slot = after
        return True

    def _earliest(self, bucket: cython.longlong) -> cython.longlong:
        head: cython.longlong = bucket + PRIORITIES - 1
        slot: cython.longlong = self.slots[head * WIDTH + NEXT]
        earliest_ps: cython.longlong = self.slots[slot * WIDTH + TIME]
        while slot != head:
            if self.slots[slot * WIDTH + TIME] < earliest_ps:
                earliest_ps = self.slots[slot * WIDTH + TIME]
            slot = self.slots[slot * WIDTH + NEXT]
        return earliest_ps

    def _grow(self) -> cython.int:
        slot: cython.longlong
        word: cython.longlong
        capacity: cython.longlong = max(FIRST_CAPACITY, 2 * self.capacity)
        if self.capacity >= MOST_SLOTS:
            message = f"more than {MOST_SLOTS - HEADS} events are pending"
            raise SimulationError(message, time_ps=self.last_ps)
        larger = array("q", bytes(8 * WIDTH * capacity))
        for word in range(self.capacity * WIDTH):
            larger[word] = self.slots[word]
        # Low numbers are handed out first.
        for slot in range(capacity - 1, self.capacity - 1, -1):
            larger[slot * WIDTH + GENERATION] = 1
            larger[slot * WIDTH + NEXT] = self.free
            self.free = slot
        self.slots = larger
        self.capacity = capacity
        return 0
