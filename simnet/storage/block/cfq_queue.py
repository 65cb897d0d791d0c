"""The queue of one process in the cfq scheduler, and what cfq remembers of a process.

Source: `struct cfq_queue` and `struct cfq_io_context` of block/cfq-iosched.c, Linux 2.6.18.
"""

from __future__ import annotations

from collections import deque

import cython

from simnet.kernel.compiled import Public
from simnet.storage.block.process_history import SeekHistory
from simnet.storage.block.request import IoContext, Request
from simnet.storage.block.sort_list import SortList


@cython.cclass
class CfqQueue:
    """Requests of one process, or asynchronous ones of all processes of one priority."""

    key: Public[IoContext] = None  # the process; None for asynchronous requests
    # "rt", "be" or "idle", and 0 to 7
    prio_class: Public[str] = None
    ioprio: Public[cython.longlong] = 0
    # its requests by sector, and in the order of their arrival
    sort_list: Public[SortList] = None
    fifo: Public[deque[Request]] = None
    next: Public[Request] = None  # to be dispatched next
    allocated: Public[cython.longlong] = 0  # requests that exist, queued or not
    dispatched: Public[cython.longlong] = 0  # requests that were dispatched and are not complete
    # in jiffies
    slice_end: Public[cython.longlong] = 0
    slice_left: Public[cython.longlong] = 0
    service_last: Public[cython.longlong] = 0
    place: Public[list[CfqQueue] | None] = None  # the list of queues that it is in
    # flags
    on_rr: Public[cython.bint] = False
    wait_request: Public[cython.bint] = False
    must_alloc_slice: Public[cython.bint] = False
    must_dispatch: Public[cython.bint] = False
    fifo_expire: Public[cython.bint] = False
    idle_window: Public[cython.bint] = False

    def __init__(self, key: IoContext | None, priority: tuple[str, int], slice_left: int) -> None:
        self.key = key
        self.prio_class, self.ioprio = priority
        self.sort_list = SortList()
        self.fifo = deque()
        self.slice_left = slice_left
        self.idle_window = self.prio_class != "idle"

    @property
    def sync(self) -> bool:
        """Whether it is a process' own."""
        return self.key is not None

    def __repr__(self) -> str:
        """Show whose it is."""
        return f"<CfqQueue {self.key.name if self.key else 'async'}>"


@cython.cclass
class CfqContext(SeekHistory):
    """What cfq remembers of a process."""

    context: Public[IoContext] = None  # the process
    # for its asynchronous and its synchronous requests
    queues: Public[list[CfqQueue | None]] = None

    def __init__(self, context: IoContext, jiffy: int) -> None:
        super().__init__(jiffy)
        self.context = context
        self.queues = [None, None]
