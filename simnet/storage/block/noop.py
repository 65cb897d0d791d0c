"""noop: first come, first served, and merging with neighbours in the queue.

Source: block/noop-iosched.c of Linux 2.6.18. It has no search for merges of its own: bios merge
with the request that the queue touched last. Requests merge with a neighbour in order of arrival.
What is dispatched together is sorted by the dispatch queue.
"""

from __future__ import annotations

from typing import ClassVar

from simnet.storage.block.elevator import Elevator, ScheduledQueue
from simnet.storage.block.request import Request

__all__ = ["Noop"]


class Noop(Elevator):
    """The noop scheduler."""

    name: ClassVar[str] = "noop"

    def __init__(self, queue: ScheduledQueue) -> None:
        super().__init__(queue)
        self.waiting: list[Request] = []

    def add(self, request: Request) -> None:
        """`noop_add_request`."""
        self.waiting.append(request)

    def merged_requests(self, request: Request, following: Request) -> None:
        """`noop_merged_requests`."""
        self.waiting.remove(following)

    def dispatch(self, *, force: bool = False) -> int:
        """`noop_dispatch`: one request."""
        if not self.waiting:
            return 0
        self.q.dispatch_sort(self.waiting.pop(0))
        return 1

    def empty(self) -> bool:
        """`noop_queue_empty`."""
        return not self.waiting

    def former(self, request: Request) -> Request | None:
        """`noop_former_request`."""
        position = self.waiting.index(request) if request in self.waiting else 0
        return self.waiting[position - 1] if position > 0 else None

    def latter(self, request: Request) -> Request | None:
        """`noop_latter_request`."""
        position = self.waiting.index(request) + 1 if request in self.waiting else 0
        return self.waiting[position] if 0 < position < len(self.waiting) else None
