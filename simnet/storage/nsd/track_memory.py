"""Which strips of which tracks a server's memory holds, and which track was used longest ago.

A hash table and a list in order of use, both of numbers in arrays: tracks come and go with every
block, and an object for each would lie in memory that nothing else has in the cache.
"""

from array import array

import cython

from simnet.kernel.compiled import Array
from simnet.storage.raid.track import mix

_FIRST_CAPACITY: cython.int = 256


@cython.final
@cython.cclass
class TrackMemory:
    """Tracks by key, the one used longest ago first.

    Entry 0 is none: it is the end of every list, and both neighbours of the ends in order of use.
    """

    count: cython.int = 0  # tracks that have strips here
    capacity: cython.int = 0
    free: cython.int = 0
    keys: Array[cython.longlong] = None
    strips: Array[cython.longlong] = None
    following: Array[cython.int] = None
    older: Array[cython.int] = None
    newer: Array[cython.int] = None
    first: Array[cython.int] = None

    def __init__(self) -> None:
        self._make(_FIRST_CAPACITY)

    def _make(self, capacity: cython.int) -> cython.int:
        """Make the arrays."""
        entry: cython.int
        self.capacity = capacity
        self.keys = array("q", [0] * capacity)
        self.strips = array("q", [0] * capacity)
        self.following = array("i", [0] * capacity)
        self.older = array("i", [0] * capacity)
        self.newer = array("i", [0] * capacity)
        self.first = array("i", [0] * (2 * capacity))
        self.free = 0
        for entry in range(capacity - 1, 0, -1):
            self.following[entry] = self.free
            self.free = entry
        return 0

    def _grow(self) -> cython.int:
        """Double the room, and put everything where it belongs."""
        keys, strips, newer = self.keys, self.strips, self.newer
        entry: cython.int = newer[0]
        self.count = 0
        self._make(2 * self.capacity)
        while entry != 0:
            self.put(keys[entry], strips[entry])
            entry = newer[entry]
        return 0

    def _bucket(self, key: cython.longlong) -> cython.int:
        buckets: cython.int = 2 * self.capacity
        bucket: cython.int = mix(key) % buckets
        return bucket

    def _find(self, key: cython.longlong) -> cython.int:
        """Return a track's entry; 0 if it has none."""
        entry: cython.int = self.first[self._bucket(key)]
        while entry != 0 and self.keys[entry] != key:
            entry = self.following[entry]
        return entry

    def held(self, key: cython.longlong) -> cython.longlong:
        """Return the strips of a track that are here, as bits."""
        entry: cython.int = self._find(key)
        return self.strips[entry] if entry != 0 else 0

    def put(self, key: cython.longlong, strips: cython.longlong) -> cython.int:
        """Have these strips of a track here; it is the one used last."""
        entry: cython.int = self._find(key)
        bucket: cython.int
        if entry == 0:
            if self.free == 0:
                self._grow()
            entry = self.free
            self.free = self.following[entry]
            bucket = self._bucket(key)
            self.keys[entry] = key
            self.following[entry] = self.first[bucket]
            self.first[bucket] = entry
            self.count += 1
        else:
            self._unlink(entry)
        self.strips[entry] = strips
        self.older[entry] = self.older[0]
        self.newer[entry] = 0
        self.newer[self.older[0]] = entry
        self.older[0] = entry
        return 0

    def drop_oldest(self) -> cython.longlong:
        """Forget the track that was used longest ago; return its strips."""
        entry: cython.int = self.newer[0]
        bucket: cython.int = self._bucket(self.keys[entry])
        other: cython.int = self.first[bucket]
        self._unlink(entry)
        if other == entry:
            self.first[bucket] = self.following[entry]
        else:
            while self.following[other] != entry:
                other = self.following[other]
            self.following[other] = self.following[entry]
        self.following[entry] = self.free
        self.free = entry
        self.count -= 1
        return self.strips[entry]

    def _unlink(self, entry: cython.int) -> cython.int:
        self.newer[self.older[entry]] = self.newer[entry]
        self.older[self.newer[entry]] = self.older[entry]
        return 0
