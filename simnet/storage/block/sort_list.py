"""The containers that schedulers share: requests by first sector, and by the sector after the last.

The kernel's are a red-black tree and a hash of lists; with the few hundred requests of a queue an
array that is searched by halves does the same.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from simnet.storage.block.request import Request

__all__ = ["MergeHash", "SortList"]


class SortList:
    """Requests by first sector (`rb_root`): no two with the same by `add`, any by `insert`."""

    def __init__(self) -> None:
        self._keys: list[int] = []
        self._requests: list[Request] = []

    def __len__(self) -> int:
        """Requests in it."""
        return len(self._keys)

    def find(self, sector: int) -> Request | None:
        """Return the request that begins at a sector."""
        position = bisect_left(self._keys, sector)
        if position < len(self._keys) and self._keys[position] == sector:
            return self._requests[position]
        return None

    def add(self, request: Request) -> Request | None:
        """Add a request; if another one begins there, return that one and add nothing."""
        sector = request.sector
        position = bisect_left(self._keys, sector)
        if position < len(self._keys) and self._keys[position] == sector:
            return self._requests[position]
        request.key = sector
        self._keys.insert(position, sector)
        self._requests.insert(position, request)
        return None

    def insert(self, request: Request) -> None:
        """Add a request, behind others that begin there."""
        request.key = request.sector
        position = bisect_right(self._keys, request.key)
        self._keys.insert(position, request.key)
        self._requests.insert(position, request)

    def from_sector(self, sector: int) -> Request | None:
        """Return the first request that does not begin before a sector."""
        position = bisect_left(self._keys, sector)
        return self._requests[position] if position < len(self._keys) else None

    def _position(self, request: Request) -> int:
        """Return where a request is, or would be, which was added with `request.key`."""
        found = position = bisect_left(self._keys, request.key)
        while position < len(self._keys) and self._keys[position] == request.key:
            if self._requests[position] is request:
                return position
            position += 1
        return found

    def remove(self, request: Request) -> None:
        """Take a request out."""
        position = self._position(request)
        del self._keys[position]
        del self._requests[position]

    def first(self) -> Request | None:
        """Return the request with the lowest sector."""
        return self._requests[0] if self._requests else None

    def following(self, request: Request) -> Request | None:
        """Return the next one (`rb_next`)."""
        position = self._position(request) + 1
        return self._requests[position] if position < len(self._keys) else None

    def following_or_first(self, request: Request) -> Request | None:
        """Return the next one, or the lowest if there is none and it is another."""
        following = self.following(request)
        if following is None:
            following = self.first()
        return None if following is request else following

    def preceding(self, request: Request) -> Request | None:
        """Return the one before (`rb_prev`)."""
        position = self._position(request) - 1
        return self._requests[position] if position >= 0 else None


class MergeHash:
    """Requests by the sector after their last, to find what a bio can be appended to."""

    def __init__(self) -> None:
        self._ends: dict[int, list[Request]] = {}
        self._key_of: dict[Request, int] = {}

    def add(self, request: Request) -> None:
        """Add a request; among those with one end it is found first."""
        self._ends.setdefault(request.end, []).append(request)
        self._key_of[request] = request.end

    def remove(self, request: Request) -> None:
        """Take a request out, if it is there."""
        end = self._key_of.pop(request, None)
        if end is not None:
            chain = self._ends[end]
            chain.remove(request)
            if not chain:
                del self._ends[end]

    def find(self, sector: int) -> Request | None:
        """Return a request that ends where `sector` begins; those that cannot grow are dropped."""
        chain = self._ends.get(sector, [])
        while chain:
            request: Request = chain[len(chain) - 1]
            if request.mergeable:
                return request
            self.remove(request)
            chain = self._ends.get(sector, [])
        return None
