"""The limit on a queue's requests: who gets one, who sleeps, who may go on.

Source: `get_request`, `get_request_wait` and `freed_request` in block/ll_rw_blk.c of Linux 2.6.18.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.priority import CPU
from simnet.kernel.simulator import Simulator
from simnet.storage.block.merging import MergingQueue
from simnet.storage.block.request import READ, WRITE, Bio, IoContext, Request
from simnet.storage.block.switch import Switching

WAKE = 3
_NR_BATCHING = 32
_LEAST_REQUESTS = 4

Resume = Callable[[Bio], None]


@cython.cclass
class RequestLimit(MergingQueue):
    """The part of a queue that allocates requests.

    Args:
        hz: of the kernel.
        nr_requests: of each direction.
    """

    switching: Public[Switching] = None
    count: Public[list[Any]] = None  # allocated requests by direction
    full: Public[list[Any]] = None
    congested: Public[list[Any]] = None  # by direction, as the page cache sees it
    sleepers: Public[tuple[deque[tuple[Bio, Resume | None]], ...]] = None
    woken: Public[deque[tuple[Bio, Resume | None]]] = None
    uncongested: Public[list[tuple[int, Callable[[], None]]]] = None
    elvpriv: Public[cython.longlong] = 0  # requests that the scheduler knows
    waits: Public[cython.longlong] = 0  # how often a process slept for a request
    nr_requests: Public[cython.longlong] = 0
    congestion_on: Public[cython.longlong] = 0
    congestion_off: Public[cython.longlong] = 0

    def __init__(self, sim: Simulator, path: str, hz: int, nr_requests: int) -> None:
        super().__init__(sim, path, hz)
        self.count = [0, 0]
        self.full = [False, False]
        self.congested = [False, False]
        self.sleepers = (deque(), deque())
        self.woken = deque()
        self.uncongested = []
        self.set_nr_requests(nr_requests)

    def insert(self, request: Request) -> cython.int:
        """Give a request to the scheduler."""
        raise NotImplementedError

    def unplug(self) -> cython.int:
        """Let the driver have what is held back."""
        raise NotImplementedError

    def _batching(self, context: IoContext) -> cython.bint:
        """`ioc_batching`: 32 requests, for a fiftieth of a second."""
        return context.nr_batch_requests == _NR_BATCHING or (
            context.nr_batch_requests > 0 and self.jiffies() < context.last_waited + self.hz // 50
        )

    def _set_batching(self, context: IoContext) -> None:
        if not self._batching(context):
            context.nr_batch_requests = _NR_BATCHING
            context.last_waited = self.jiffies()

    def get_request(self, bio: Bio) -> Request:
        """`get_request`; None if there is none for the bio."""
        request: Request
        batcher: IoContext = None
        rw: cython.int = WRITE if bio.write else READ
        must: cython.bint = self.elevator.may_queue(bio)
        count: cython.longlong = self.count[rw] + 1
        if count >= self.congestion_on:
            if count >= self.nr_requests:
                batcher = bio.context
                if not self.full[rw]:
                    self._set_batching(batcher)
                    self.full[rw] = True
                elif not must and not self._batching(batcher):
                    return None
            self.congested[rw] = True
        if count > 3 * self.nr_requests // 2:
            return None
        self.count[rw] = count
        request = Request(bio, self.jiffies(), self.sim.now)
        request.elvpriv = not self.switching.under_way
        if request.elvpriv:
            self.elvpriv += 1
            self.elevator.allocated(request)
        if batcher is not None and self._batching(batcher):
            batcher.nr_batch_requests -= 1
        return request

    def sleep(self, bio: Bio, resume: Resume | None) -> None:
        """`get_request_wait`: let the device have what there is, and sleep."""
        self.waits += 1
        self.sleepers[bio.write].append((bio, resume))
        self.unplug()

    def wakes(self, bio: Bio, resume: Resume | None) -> None:
        """A process that slept for a request tries again, as a batcher."""
        self._set_batching(bio.context)
        request = self.get_request(bio)
        if request is None:
            self.sleep(bio, resume)
            return
        self.insert(request)
        if resume is not None:
            resume(bio)

    def free(self, request: Request) -> cython.int:
        """Give a request back (`__blk_put_request`, `freed_request`)."""
        rw: cython.int = request.rw
        if request.elvpriv:
            self.elevator.freed(request)
            self.elvpriv -= 1
        self.count[rw] -= 1
        return self._freed(rw)

    def _freed(self, rw: cython.int) -> cython.int:
        if self.count[rw] < self.congestion_off and self.congested[rw]:
            self.congested[rw] = False
            waiting = [pair for pair in self.uncongested if pair[0] == rw]
            self.uncongested = [pair for pair in self.uncongested if pair[0] != rw]
            for _, callback in waiting:
                callback()
        if self.count[rw] + 1 <= self.nr_requests:
            if self.sleepers[rw]:
                self.woken.append(self.sleepers[rw].popleft())
                self.sim.after(0, self, WAKE, 0, CPU)
            self.full[rw] = False
        return 0

    def set_nr_requests(self, number: int) -> None:
        """Write `nr_requests` (`queue_requests_store`); at least 4."""
        self.nr_requests = number = max(number, _LEAST_REQUESTS)
        self.congestion_on = min(number - number // 8 + 1, number)
        self.congestion_off = max(number - number // 8 - number // 16 - 1, 1)
        for rw in (READ, WRITE):
            if self.count[rw] >= self.congestion_on:
                self.congested[rw] = True
            if self.count[rw] >= number:
                self.full[rw] = True
            else:
                self._freed(rw)

    def when_uncongested(self, rw: int, callback: Callable[[], None]) -> None:
        """Call back once when a direction is not congested any more (`blk_congestion_wait`)."""
        self.uncongested.append((rw, callback))
