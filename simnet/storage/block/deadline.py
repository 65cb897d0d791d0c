"""deadline: batches in the order of sectors, and no request waits much longer than its deadline.

Source: block/deadline-iosched.c of Linux 2.6.18. A batch goes on while the next request begins just
where the last one ended, for up to `fifo_batch` requests. Then reads go before writes unless they
have done so `writes_starved` times; the direction goes on in the order of sectors from where it
was, or starts again with its oldest request when that one's deadline is over, when the other
direction was served in between, or when there is none with a higher sector.
"""

from collections import deque
from typing import Any, ClassVar

import cython

from simnet.kernel.compiled import Public
from simnet.storage.block.elevator import Elevator, ScheduledQueue, Tunable
from simnet.storage.block.request import READ, WRITE, Bio, Request
from simnet.storage.block.sort_list import SortList


@cython.cclass
class Deadline(Elevator):
    """The deadline scheduler."""

    sort_list: Public[tuple[Any, ...]] = None
    fifo: Public[tuple[deque[Request], deque[Request]]] = None
    next: Public[list[Request | None]] = None
    batching: Public[cython.longlong] = 0
    last_sector: Public[cython.longlong] = 0
    starved: Public[cython.longlong] = 0
    fifo_expire: Public[tuple[Any, ...]] = None
    writes_starved: Public[cython.longlong] = 0
    fifo_batch: Public[cython.longlong] = 0
    front_merges: Public[cython.bint] = False

    name: ClassVar[str] = "deadline"
    tunables: ClassVar[dict[str, Tunable]] = {
        "read_expire": Tunable(500, time=True),
        "write_expire": Tunable(5000, time=True),
        "writes_starved": Tunable(2, least=-(1 << 31)),
        "front_merges": Tunable(1, most=1),
        "fifo_batch": Tunable(16),
    }

    def __init__(self, queue: ScheduledQueue) -> None:
        self.sort_list = (SortList(), SortList())
        self.fifo = (deque(), deque())
        self.next = [None, None]
        super().__init__(queue)

    def tuned(self) -> None:
        """Take the tunables over."""
        values = self.values
        self.fifo_expire = (values["read_expire"], values["write_expire"])
        self.writes_starved = values["writes_starved"]
        self.fifo_batch = values["fifo_batch"]
        self.front_merges = bool(values["front_merges"])

    def add(self, request: Request) -> cython.int:
        """`deadline_add_request`."""
        self._sort(request)
        request.expires = self.q.jiffies() + self.fifo_expire[request.rw]
        self.fifo[request.rw].append(request)
        if request.mergeable():
            self.hash.add(request)
        return 0

    def _sort(self, request: Request) -> cython.int:
        """`deadline_add_drq_rb`: a request for the same sector goes to the driver first."""
        requests: SortList = self.sort_list[request.rw]
        alias: Request = requests.add(request)
        while alias is not None:
            self._move(alias)
            alias = requests.add(request)
        return 0

    def _unsort(self, request: Request) -> cython.int:
        """`deadline_del_drq_rb`."""
        requests: SortList = self.sort_list[request.rw]
        if self.next[request.rw] is request:
            self.next[request.rw] = requests.following(request)
        return requests.remove(request)

    def _remove(self, request: Request) -> cython.int:
        """`deadline_remove_request`."""
        self.fifo[request.rw].remove(request)
        self._unsort(request)
        return self.hash.remove(request)

    def behind(self, bio: Bio) -> SortList:
        """`deadline_merge`."""
        return self.sort_list[WRITE if bio.write else READ] if self.front_merges else None

    def resort(self, request: Request) -> cython.int:
        """`deadline_merged_request`."""
        self._unsort(request)
        return self._sort(request)

    def merged_requests(self, request: Request, following: Request) -> cython.int:
        """`deadline_merged_requests`: the earlier deadline holds for both."""
        self.merged(request)
        fifo = self.fifo[request.rw]
        if following.expires < request.expires:
            fifo.remove(request)
            fifo.insert(fifo.index(following), request)
            request.expires = following.expires
        return self._remove(following)

    def dispatch(self, force: cython.bint = False) -> cython.longlong:  # noqa: FBT002 - cpdef
        """`deadline_dispatch_requests`: one request."""
        oldest: Request
        following: Request
        rw: cython.int
        request: Request = self.next[WRITE] or self.next[READ]
        if request is not None:
            if self.last_sector != request.sector:
                # a batch ends with the first request that does not follow
                self.batching += self.fifo_batch
            if self.batching < self.fifo_batch:
                self.batching += 1
                self._move(request)
                return 1
        rw = self._direction()
        if rw < 0:
            return 0
        oldest = self.fifo[rw][0]
        following = self.next[rw]
        if self.q.jiffies() > oldest.expires or following is None:
            following = oldest
        self.batching = 1
        self._move(following)
        return 1

    def _direction(self) -> cython.int:
        """Reads unless writes have starved; -1 if there is neither."""
        if self.fifo[READ]:
            if not self.fifo[WRITE]:
                return READ
            self.starved += 1
            if self.starved <= self.writes_starved:
                return READ
        if not self.fifo[WRITE]:
            return -1
        self.starved = 0
        return WRITE

    def _move(self, request: Request) -> cython.int:
        """`deadline_move_request`."""
        requests: SortList = self.sort_list[request.rw]
        following: Request = requests.following(request)
        self.next = [None, None]
        self.next[request.rw] = following
        self.last_sector = request.end()
        self._remove(request)
        return self.q.dispatch_tail(request)

    def empty(self) -> cython.bint:
        """`deadline_queue_empty`."""
        return not (self.fifo[READ] or self.fifo[WRITE])

    def former(self, request: Request) -> Request:
        """`deadline_former_request`."""
        requests: SortList = self.sort_list[request.rw]
        return requests.preceding(request)

    def latter(self, request: Request) -> Request:
        """`deadline_latter_request`."""
        requests: SortList = self.sort_list[request.rw]
        return requests.following(request)
