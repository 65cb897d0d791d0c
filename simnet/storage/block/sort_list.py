"""The containers that schedulers share: requests by first sector, and by the sector after the last.

The kernel's are a red-black tree and a hash of lists; with the few hundred requests of a queue an
array that is searched by halves does the same.
"""

import cython

from simnet.storage.block.request import Request


@cython.cclass
class SortList:
    """Requests by first sector (`rb_root`): no two with the same by `add`, any by `insert`."""

    _requests: list[Request] = None

    def __init__(self) -> None:
        self._requests = []

    def __len__(self) -> int:
        """Requests in it."""
        return len(self._requests)

    def _left(self, sector: cython.longlong) -> cython.Py_ssize_t:
        """Return the place of the first request that does not begin before a sector."""
        request: Request
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = len(self._requests)
        middle: cython.Py_ssize_t
        while low < high:
            middle = (low + high) // 2
            request = self._requests[middle]
            if request.key < sector:
                low = middle + 1
            else:
                high = middle
        return low

    def _at(self, position: cython.Py_ssize_t) -> Request:
        """Return the request in a place; None if there is none."""
        if 0 <= position < len(self._requests):
            return self._requests[position]
        return None

    def find(self, sector: cython.longlong) -> Request:
        """Return the request that begins at a sector; None if there is none."""
        request: Request = self._at(self._left(sector))
        return request if request is not None and request.key == sector else None

    def add(self, request: Request) -> Request:
        """Add a request; if another one begins there, return that one and add nothing."""
        position: cython.Py_ssize_t = self._left(request.sector)
        other: Request = self._at(position)
        if other is not None and other.key == request.sector:
            return other
        request.key = request.sector
        self._requests.insert(position, request)
        return None

    def insert(self, request: Request) -> cython.int:
        """Add a request, behind others that begin there."""
        request.key = request.sector
        self._requests.insert(self._left(request.key + 1), request)
        return 0

    def from_sector(self, sector: cython.longlong) -> Request:
        """Return the first request that does not begin before a sector; None if there is none."""
        return self._at(self._left(sector))

    def _position(self, request: Request) -> cython.Py_ssize_t:
        """Return where a request is, or would be, which was added with `request.key`."""
        found: cython.Py_ssize_t = self._left(request.key)
        position: cython.Py_ssize_t = found
        other: Request = self._at(position)
        while other is not None and other.key == request.key:
            if other is request:
                return position
            position += 1
            other = self._at(position)
        return found

    def remove(self, request: Request) -> cython.int:
        """Take a request out."""
        del self._requests[self._position(request)]
        return 0

    def first(self) -> Request:
        """Return the request with the lowest sector; None if there is none."""
        return self._at(0)

    def following(self, request: Request) -> Request:
        """Return the next one (`rb_next`); None if there is none."""
        return self._at(self._position(request) + 1)

    def following_or_first(self, request: Request) -> Request:
        """Return the next one, or the lowest if there is none and it is another."""
        following: Request = self.following(request)
        if following is None:
            following = self.first()
        return None if following is request else following

    def preceding(self, request: Request) -> Request:
        """Return the one before (`rb_prev`); None if there is none."""
        return self._at(self._position(request) - 1)


@cython.cclass
class MergeHash:
    """Requests by the sector after their last, to find what a bio can be appended to."""

    _ends: dict[int, list[Request]] = None
    _key_of: dict[Request, int] = None

    def __init__(self) -> None:
        self._ends = {}
        self._key_of = {}

    def add(self, request: Request) -> cython.int:
        """Add a request; among those with one end it is found first."""
        end = request.end()
        self._ends.setdefault(end, []).append(request)
        self._key_of[request] = end
        return 0

    def remove(self, request: Request) -> cython.int:
        """Take a request out, if it is there."""
        end = self._key_of.pop(request, None)
        if end is not None:
            chain: list[Request] = self._ends[end]
            chain.remove(request)
            if not chain:
                del self._ends[end]
        return 0

    def find(self, sector: cython.longlong) -> Request:
        """Return a request that ends where `sector` begins; those that cannot grow are dropped."""
        request: Request
        chain = self._ends.get(sector)
        while chain:
            request = chain[len(chain) - 1]
            if request.mergeable():
                return request
            self.remove(request)
            chain = self._ends.get(sector)
        return None
