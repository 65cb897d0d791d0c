"""noop: first come, first served, and merging with neighbours in the queue.

Source: block/noop-iosched.c of Linux 2.6.18. It has no search for merges of its own: bios merge
with the request that the queue touched last. Requests merge with a neighbour in order of arrival.
What is dispatched together is sorted by the dispatch queue.
"""

from typing import ClassVar

import cython

from simnet.kernel.compiled import Public
from simnet.storage.block.elevator import Elevator, ScheduledQueue
from simnet.storage.block.request import Request


@cython.cclass
class Noop(Elevator):
    """The noop scheduler."""

    waiting: Public[list[Request]] = None

    name: ClassVar[str] = "noop"

    def __init__(self, queue: ScheduledQueue) -> None:
        super().__init__(queue)
        self.waiting = []

    def add(self, request: Request) -> cython.int:
        """`noop_add_request`."""
        self.waiting.append(request)
        return 0

    def merged(self, request: Request) -> cython.int:
        """Nothing is searched for."""
        return 0

    def merged_requests(self, request: Request, following: Request) -> cython.int:
        """`noop_merged_requests`."""
        self.waiting.remove(following)
        return 0

    def dispatch(self, force: cython.bint = False) -> cython.longlong:  # noqa: FBT002 - cpdef
        """`noop_dispatch`: one request."""
        if len(self.waiting) == 0:
            return 0
        self.q.dispatch_sort(self.waiting.pop(0))
        return 1

    def empty(self) -> cython.bint:
        """`noop_queue_empty`."""
        return len(self.waiting) == 0

    def former(self, request: Request) -> Request:
        """`noop_former_request`."""
        position = self.waiting.index(request) if request in self.waiting else 0
        return self.waiting[position - 1] if position > 0 else None

    def latter(self, request: Request) -> Request:
        """`noop_latter_request`."""
        position = self.waiting.index(request) + 1 if request in self.waiting else 0
        return self.waiting[position] if 0 < position < len(self.waiting) else None
