"""Event queue: a monotone radix heap on integer picoseconds.

Order is total: time, then priority, then insertion. Entries are grouped by how their times differ
from the base, a time that no entry precedes: by the highest digit (of 9 bits) in which they
differ, and by the value of that digit (Ahuja, Mehlhorn, Orlin, Tarjan, "Faster algorithms for the
shortest path problem", JACM 37, 1990). Each group is a first-in first-out list. What lies at the
base itself is first of all, with a list for each priority. When there is none, the first entry is
in the first list of the lowest digit. If that is short, it is searched. If not, the base moves to
the list's earliest time, and the list spreads, front to back, over those of lower digits, which
are all empty then: entries of equal time keep the order in which they came.

Entries live in numbered slots of arrays, so that a queue allocates nothing while it runs and
cancels in constant time by unlinking. Time and links, 16 bytes a slot, lie apart from what is
needed only to dispatch: the lists of a hundred thousand entries fit into a core's second-level
cache. The first slots are the heads of the lists. The arrays double when they are full and never
shrink; slots that become free are used again.
"""

from __future__ import annotations

from array import array
from typing import Any

import cython

from simnet.errors import SimulationError
from simnet.kernel.compiled import Array, native
from simnet.kernel.prefetch import prefetch

# where a slot's links lie in the array that it shares with its time
NEXT: cython.int = 2
PREVIOUS: cython.int = 3
LINKS: cython.int = 4
# the words of its entry
TARGET: cython.int = 0
KIND: cython.int = 1
ARG: cython.int = 2
GENERATION: cython.int = 3
WORDS: cython.int = 4
# The target's number is shifted by this, and the priority is below.
PRIORITY_BITS: cython.int = 2
PRIORITIES: cython.int = 1 << PRIORITY_BITS
DIGIT_BITS: cython.int = 9
DIGITS: cython.int = 1 << DIGIT_BITS
LEVELS: cython.int = 7
HEADS: cython.int = PRIORITIES + LEVELS * DIGITS
FIRST_CAPACITY: cython.int = 4096
# With more entries than this, what is needed to dispatch one is fetched ahead.
CACHED: cython.int = 4096
# A list that is shorter than this is searched rather than spread.
FEW: cython.int = 4
NEVER_PS: cython.longlong = (1 << 63) - 1
# A handle is the number of a slot in its low bits, and how often that was freed above.
SLOT_BITS: cython.int = 24
MOST_SLOTS: cython.int = 1 << SLOT_BITS
GENERATION_MASK: cython.longlong = (1 << (63 - SLOT_BITS)) - 1


@native
def lowest_bit(word: cython.ulonglong) -> cython.int:
    """Return the index of the lowest bit set in `word`, which is not 0."""
    return (word & -word).bit_length() - 1


@native
def highest_bit(word: cython.ulonglong) -> cython.int:
    """Return the index of the highest bit set in `word`, which is not 0."""
    return word.bit_length() - 1


@cython.final
@cython.cclass
class EventQueue:
    """Future events, each a time, a priority, a target, a kind and an argument, all integers.

    `pending` is the number of entries. The queue trusts its caller, the simulator, which checks
    what it is given: nothing may be pushed before the time of the last entry taken. The time of a
    list's head is not after its earliest entry's; cancelling may leave it before.
    """

    base_ps: cython.longlong = 0
    pending: cython.longlong = 0
    times: Array[cython.longlong] = None
    links: Array[cython.int] = None
    words: Array[cython.longlong] = None
    capacity: cython.longlong = 0
    free: cython.longlong = 0
    near: cython.ulonglong = 0
    far: cython.ulonglong = 0
    groups: Array[cython.ulonglong] = None

    def __init__(self) -> None:
        """Make an empty queue at time 0."""
        head: cython.longlong
        # priorities that have entries at `base_ps`
        # groups that have entries; for each 64 of the other lists, which of them have entries
        self.groups = array("Q", [0] * (HEADS // 64))
        self._grow()
        for head in range(HEADS):
            self.links[head * LINKS + NEXT] = head
            self.links[head * LINKS + PREVIOUS] = head
            self.times[head * 2] = NEVER_PS

    @cython.cfunc
    def push(
        self,
        time_ps: cython.longlong,
        priority: cython.int,
        target: cython.longlong,
        kind: cython.int,
        arg: cython.longlong,
    ) -> cython.longlong:
        """Add an entry and return its handle, never 0."""
        slot: cython.longlong
        word: cython.longlong
        if self.free == 0:
            self._grow()
        slot = self.free
        word = slot * WORDS
        self.free = self.links[slot * LINKS + NEXT]
        self.times[slot * 2] = time_ps
        self.words[word + TARGET] = target * PRIORITIES + priority
        self.words[word + KIND] = kind
        self.words[word + ARG] = arg
        self.pending += 1
        self._append(slot)
        generation: cython.longlong = self.words[word + GENERATION]
        return (generation << SLOT_BITS) | slot

    @cython.cfunc
    @cython.exceptval(check=False)
    def take(self, limit_ps: cython.longlong) -> cython.longlong:
        """Unlink and free the first entry and return its slot; 0 if none is due by `limit_ps`.

        The slot's time and words stay valid until the next push. A caller that gets 0 may push
        nothing before `limit_ps` any more, since the base may have moved up to there.
        """
        head: cython.longlong
        slot: cython.longlong
        if self.near == 0 and self.far != 0:
            head = self._first_list()
            slot = self.links[head * LINKS + NEXT]
            if self.links[head * LINKS + PREVIOUS] == slot:
                # The only one of its list is the first of all.
                if self.times[slot * 2] > limit_ps:
                    return 0
                self.base_ps = self.times[slot * 2]
                self._clear(head)
                self.pending -= 1
                self.release(slot)
                return slot
        return self._take_of_several(limit_ps)

    @cython.exceptval(check=False)
    def _take_of_several(self, limit_ps: cython.longlong) -> cython.longlong:
        """Do as `take`, where entries lie at the base or the first list has more than one."""
        head: cython.longlong
        slot: cython.longlong
        if self.near != 0:
            if self.base_ps > limit_ps:
                return 0
            slot = self.links[lowest_bit(self.near) * LINKS + NEXT]
        else:
            if self.far == 0:
                return 0
            head = self._first_list()
            if self.times[head * 2] > limit_ps:
                return 0
            slot = self._first_of_few(head)
            if slot == 0:
                self._spread(head)
                return self.take(limit_ps)
            if self.times[slot * 2] > limit_ps:
                return 0
        self.remove(slot)
        self.release(slot)
        return slot

    @cython.exceptval(check=False)
    def _first_of_few(self, head: cython.longlong) -> cython.longlong:
        """Return the first entry of a list, 0 if there are too many to look at each."""
        slot: cython.longlong = self.links[head * LINKS + NEXT]
        first: cython.longlong = slot
        first_ps: cython.longlong = self.times[slot * 2]
        second_ps: cython.longlong = NEVER_PS
        time_ps: cython.longlong
        left: cython.int = FEW
        slot = self.links[slot * LINKS + NEXT]
        while slot != head:
            left -= 1
            if left == 0:
                return 0
            time_ps = self.times[slot * 2]
            if time_ps < first_ps or (time_ps == first_ps and self._precedes(slot, first)):
                second_ps = first_ps
                first_ps = time_ps
                first = slot
            elif time_ps < second_ps:
                second_ps = time_ps
            slot = self.links[slot * LINKS + NEXT]
        self.times[head * 2] = second_ps
        return first

    @cython.exceptval(check=False)
    def _precedes(self, slot: cython.longlong, other: cython.longlong) -> cython.bint:
        """Whether an entry has a smaller priority than one of the same time."""
        one: cython.longlong = self.words[slot * WORDS + TARGET] & (PRIORITIES - 1)
        another: cython.longlong = self.words[other * WORDS + TARGET] & (PRIORITIES - 1)
        return one < another

    @cython.cfunc
    @cython.exceptval(check=False)
    def release(self, slot: cython.longlong) -> None:
        """Free a slot that was removed; its handles are stale from here on."""
        word: cython.longlong = slot * WORDS + GENERATION
        self.words[word] = (self.words[word] + 1) & GENERATION_MASK
        self.links[slot * LINKS + NEXT] = self.free
        self.free = slot

    @cython.cfunc
    @cython.exceptval(check=False)
    def find(self, handle: cython.longlong) -> cython.longlong:
        """Return the slot of a handle's entry; 0 if that was taken or cancelled."""
        slot: cython.longlong = handle & (MOST_SLOTS - 1)
        if handle <= 0 or slot < HEADS or slot >= self.capacity:
            return 0
        if self.words[slot * WORDS + GENERATION] != handle >> SLOT_BITS:
            return 0
        return slot

    @cython.cfunc
    @cython.exceptval(check=False)
    def remove(self, slot: cython.longlong) -> None:
        """Unlink an entry that is waiting, wherever it is."""
        before: cython.longlong = self.links[slot * LINKS + PREVIOUS]
        after: cython.longlong = self.links[slot * LINKS + NEXT]
        self.links[before * LINKS + NEXT] = after
        self.links[after * LINKS + PREVIOUS] = before
        if before == after:
            # Only a head is its own neighbour.
            self._list_is_empty(before)
        self.pending -= 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def ahead(self, slot: cython.longlong) -> cython.longlong:
        """Return the entry at `base_ps` that follows a slot, or the first one if that is 0.

        Returns:
            Its slot; 0 if there is none of the same priority, or its words are in the cache
            anyway, there being few entries.
        """
        if self.near == 0 or self.pending <= CACHED:
            return 0
        if slot == 0:
            slot = lowest_bit(self.near)
        slot = self.links[slot * LINKS + NEXT]
        return slot if slot >= HEADS else 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def peek(self) -> cython.longlong:
        """Return the time of the first entry in ps, -1 if there is none. Nothing moves."""
        if self.near != 0:
            return self.base_ps
        if self.far == 0:
            return -1
        return self._earliest(self._first_list())

    @cython.cfunc
    @cython.exceptval(check=False)
    def _append(self, slot: cython.longlong) -> None:
        time_ps: cython.longlong = self.times[slot * 2]
        difference: cython.ulonglong = time_ps ^ self.base_ps
        one: cython.ulonglong = 1
        level: cython.int
        head: cython.longlong
        tail: cython.longlong
        if difference == 0:
            head = self.words[slot * WORDS + TARGET] & (PRIORITIES - 1)
            self.near = self.near | (one << head)
        else:
            level = highest_bit(difference) // DIGIT_BITS
            head = (time_ps >> (level * DIGIT_BITS)) & (DIGITS - 1)
            head += level * DIGITS
            self.far = self.far | (one << (head >> 6))
            self.groups[head >> 6] = self.groups[head >> 6] | (one << (head & 63))
            head += PRIORITIES
            self.times[head * 2] = min(self.times[head * 2], time_ps)
        tail = self.links[head * LINKS + PREVIOUS]
        self.links[slot * LINKS + NEXT] = head
        self.links[slot * LINKS + PREVIOUS] = tail
        self.links[tail * LINKS + NEXT] = slot
        self.links[head * LINKS + PREVIOUS] = slot

    @cython.exceptval(check=False)
    def _first_list(self) -> cython.longlong:
        group: cython.longlong = lowest_bit(self.far)
        return PRIORITIES + group * 64 + lowest_bit(self.groups[group])

    @cython.cfunc
    @cython.exceptval(check=False)
    def _list_is_empty(self, head: cython.longlong) -> None:
        one: cython.ulonglong = 1
        group: cython.longlong = (head - PRIORITIES) >> 6
        if head < PRIORITIES:
            self.near = self.near ^ (one << head)
            return
        self.groups[group] = self.groups[group] ^ (one << ((head - PRIORITIES) & 63))
        if self.groups[group] == 0:
            self.far = self.far ^ (one << group)
        self.times[head * 2] = NEVER_PS

    @cython.cfunc
    @cython.exceptval(check=False)
    def _clear(self, head: cython.longlong) -> None:
        self.links[head * LINKS + NEXT] = head
        self.links[head * LINKS + PREVIOUS] = head
        self._list_is_empty(head)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _spread(self, head: cython.longlong) -> None:
        """Move on to the earliest time of a list."""
        slot: cython.longlong = self.links[head * LINKS + NEXT]
        after: cython.longlong
        uncached: cython.bint = cython.compiled and self.pending > CACHED
        self.base_ps = self.times[head * 2]
        self._clear(head)
        while slot != head:
            after = self.links[slot * LINKS + NEXT]
            self._append(slot)
            if uncached and self.links[slot * LINKS + PREVIOUS] < HEADS:
                # The first of its list is likely to be taken soon.
                prefetch(cython.address(self.words[slot * WORDS]), 8 * WORDS)
            slot = after

    @cython.exceptval(check=False)
    def _earliest(self, head: cython.longlong) -> cython.longlong:
        slot: cython.longlong = self.links[head * LINKS + NEXT]
        earliest_ps: cython.longlong = self.times[slot * 2]
        while slot != head:
            earliest_ps = min(earliest_ps, self.times[slot * 2])
            slot = self.links[slot * LINKS + NEXT]
        return earliest_ps

    def _grow(self) -> cython.int:
        slot: cython.longlong
        first: cython.longlong = max(HEADS, self.capacity)
        capacity: cython.longlong = max(FIRST_CAPACITY, 2 * self.capacity)
        if self.capacity >= MOST_SLOTS:
            message = f"more than {MOST_SLOTS - HEADS} events are pending"
            raise SimulationError(message, time_ps=self.base_ps)
        nodes: Any = memoryview(array("q", [0]) * (2 * capacity))
        block = array("q", [0]) * (WORDS * (capacity + 1))
        # No slot's words lie in two cache lines.
        offset = -block.buffer_info()[0] // 8 % WORDS
        words: Any = memoryview(block)[offset : offset + WORDS * capacity]
        if self.capacity > 0:
            times: Any = self.times
            nodes[: 2 * self.capacity] = memoryview(times)
            entries: Any = self.words
            words[: WORDS * self.capacity] = memoryview(entries)
        self.times = nodes
        self.links = nodes.cast("B").cast("i")
        self.words = words
        self.capacity = capacity
        # Low numbers are handed out first.
        for slot in range(capacity - 1, first - 1, -1):
            self.links[slot * LINKS + NEXT] = self.free
            self.free = slot
        return 0
