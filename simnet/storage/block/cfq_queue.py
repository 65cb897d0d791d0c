"""The queue of one process in the cfq scheduler, and what cfq remembers of a process.

Source: `struct cfq_queue` and `struct cfq_io_context` of block/cfq-iosched.c, Linux 2.6.18.
"""

from __future__ import annotations

from collections import deque

from simnet.storage.block.process_history import SeekHistory
from simnet.storage.block.request import IoContext, Request
from simnet.storage.block.sort_list import SortList

__all__ = ["CfqContext", "CfqQueue"]


class CfqQueue:
    """Requests of one process, or asynchronous ones of all processes of one priority.

    Attributes:
        key: the process; None for asynchronous requests.
        prio_class, ioprio: "rt", "be" or "idle", and 0 to 7.
        sort_list, fifo: its requests by sector, and in the order of their arrival.
        next: to be dispatched next.
        allocated: requests that exist, queued or not.
        dispatched: requests that were dispatched and are not complete.
        slice_end, slice_left, service_last: in jiffies.
        place: the list of queues that it is in.
        on_rr, wait_request, must_alloc_slice, must_dispatch, fifo_expire, idle_window: flags.
    """

    def __init__(self, key: IoContext | None, priority: tuple[str, int], slice_left: int) -> None:
        self.key = key
        self.prio_class, self.ioprio = priority
        self.sort_list = SortList()
        self.fifo: deque[Request] = deque()
        self.next: Request | None = None
        self.allocated = self.dispatched = 0
        self.slice_end = self.service_last = 0
        self.slice_left = slice_left
        self.place: list[CfqQueue] | None = None
        self.on_rr = self.wait_request = self.must_alloc_slice = False
        self.must_dispatch = self.fifo_expire = False
        self.idle_window = self.prio_class != "idle"

    @property
    def sync(self) -> bool:
        """Whether it is a process' own."""
        return self.key is not None

    def __repr__(self) -> str:
        """Show whose it is."""
        return f"<CfqQueue {self.key.name if self.key else 'async'}>"


class CfqContext(SeekHistory):
    """What cfq remembers of a process.

    Attributes:
        context: the process.
        queues: for its asynchronous and its synchronous requests.
    """

    def __init__(self, context: IoContext, jiffy: int) -> None:
        super().__init__(jiffy)
        self.context = context
        self.queues: list[CfqQueue | None] = [None, None]
