"""A process's queue of bfq, and the fair order of queues: B-WF2Q+.

Source: block/bfq-wf2q.c of Linux 6.12. A queue has a virtual start and a virtual finish, its budget
over its weight later. Virtual time goes on with the service that is given, over the sum of the
weights; of the queues that should have begun by then, the one goes next that would finish first.
"""

from collections import deque
from typing import Any

import cython

from simnet.kernel.compiled import Public
from simnet.storage.block.request import IoContext, Request
from simnet.storage.block.sort_list import SortList

_SHIFT = 22
_LEVELS = 8
_WEIGHT_OF_LEVEL = 10
# BFQQ_SEEK_THR, BFQQ_SECT_THR_NONROT: a short request this far from the last one is a seek
_FAR_SECTORS = 8 * 100
_SHORT_SECTORS = 2 * 32
_HISTORY = (1 << 32) - 1
# BFQQ_SEEKY: more of the last 32 than that are seeks
_SEEKY = 19


@cython.cclass
class BfqQueue:
    """The requests of one process (`struct bfq_queue` with its entity)."""

    context: IoContext = None
    weight: cython.longlong = 0  # ten for each level of I/O priority below the lowest, ten at least
    sort_list: SortList = None
    fifo: deque[Request] = None
    next: Public[Request] = None
    # in virtual time
    start: Public[Any] = None
    finish: Public[Any] = None
    # sectors that it may have before it expires, and has had
    budget: Public[cython.longlong] = 0
    service: Public[cython.longlong] = 0
    max_budget: Public[cython.longlong] = 0  # what it gets next
    dispatched: Public[cython.longlong] = 0  # requests of it in the drive
    active: Public[cython.bint] = False  # it waits for service, or has it
    waits: Public[cython.bint] = False  # nothing of it is there, and the drive idles for it
    ran_out: Public[cython.bint] = False  # its turn ended before its budget, as it had no request
    fifo_checked: Public[cython.bint] = False  # in its turn the oldest request has been looked at
    timeout: Public[cython.longlong] = 0  # jiffy at which its turn ends
    begun_jiffy: Public[cython.longlong] = 0
    last_done_ps: Public[cython.longlong] = 0  # when a request of it was complete last
    last_end: cython.longlong = 0  # sector behind its last request
    seeks: cython.longlong = 0  # bits of its last 32 requests that were seeks, the last one lowest

    def __init__(self, context: IoContext, max_budget: int) -> None:
        self.context = context
        self.weight = (_LEVELS - context.priority[1]) * _WEIGHT_OF_LEVEL
        self.sort_list = SortList()
        self.fifo = deque()
        self.start = self.finish = 0
        self.max_budget = max_budget

    @property
    def left(self) -> int:
        """Sectors of its budget that are left."""
        return self.budget - self.service

    @property
    def seeky(self) -> bool:
        """Whether most of its last requests were seeks."""
        return int(self.seeks).bit_count() > _SEEKY

    def note_seek(self, request: Request) -> None:
        """`bfq_update_io_seektime`."""
        distance: cython.longlong = request.sector - self.last_end
        far = abs(distance) > _FAR_SECTORS
        short = request.sectors < _SHORT_SECTORS
        self.seeks = (self.seeks << 1 | (far and short)) & _HISTORY
        self.last_end = request.end()

    def calc_finish(self, service: int) -> None:
        """`bfq_calc_finish`."""
        self.finish = self.start + (service << _SHIFT) // self.weight


@cython.cclass
class ServiceTree:
    """The queues of one class (`struct bfq_service_tree`)."""

    vtime: Public[Any] = None  # virtual time
    active: list[BfqQueue] = None  # queues that wait for service
    idle: list[BfqQueue] = None  # queues without requests whose finish is still ahead
    # the queue that is served; None if another class is, or nothing
    in_service: Public[BfqQueue] = None

    def __init__(self) -> None:
        self.vtime = 0
        self.active = []
        self.idle = []

    @property
    def weights(self) -> int:
        """Sum over all that are known here."""
        own = self.in_service.weight if self.in_service else 0
        return own + sum(queue.weight for queue in (*self.active, *self.idle))

    def activate(self, queue: BfqQueue, *, shifted: bool = False) -> None:
        """`__bfq_activate_entity`: it begins now, or where its last service ended.

        With `shifted` it does so even if that is past, but does not finish before now.
        """
        self._forget()
        past = shifted and self.vtime > queue.finish
        queue.start = queue.finish if past else self.vtime
        if queue in self.idle:
            self.idle.remove(queue)
            queue.start = max(self.vtime, queue.finish)
        queue.calc_finish(queue.budget)
        if past and self.vtime > queue.finish:
            queue.start += self.vtime - queue.finish
            queue.finish = self.vtime
        self.active.append(queue)

    def requeue(self, queue: BfqQueue) -> None:
        """`__bfq_requeue_entity`: on from what it has had."""
        queue.calc_finish(queue.service)
        queue.start = queue.finish
        queue.calc_finish(queue.budget)
        self.in_service = None
        self.active.append(queue)

    def deactivate(self, queue: BfqQueue) -> None:
        """`__bfq_deactivate_entity`: known until virtual time has reached its finish."""
        queue.calc_finish(queue.service)
        self.in_service = None
        self.idle.append(queue)
        self._forget()

    def served(self, sectors: int) -> None:
        """`bfq_bfqq_served`: virtual time goes on."""
        self.vtime += (sectors << _SHIFT) // self.weights
        self._forget()

    def _forget(self) -> None:
        self.idle = [queue for queue in self.idle if queue.finish > self.vtime]

    def first(self) -> BfqQueue | None:
        """`bfq_lookup_next_entity`: the one that would have the service next."""
        if not self.active:
            return None
        begun = max(self.vtime, min(queue.start for queue in self.active))
        found: Any = min(
            (queue for queue in self.active if queue.start <= begun), key=lambda queue: queue.finish
        )
        return found

    def select(self) -> BfqQueue | None:
        """Give the first the service; virtual time does not stay behind the others."""
        found = self.first()
        if found is None:
            return None
        self.vtime = max(self.vtime, min(queue.start for queue in self.active))
        self.active.remove(found)
        self.in_service = found
        found.service = 0
        return found
