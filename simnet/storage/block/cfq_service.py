"""The queues of cfq, and which is served next: by priority, in the order of the last service.

Source: `cfq_resort_rr_list` to `cfq_set_active_queue` in block/cfq-iosched.c, Linux 2.6.18. The
kernel puts a preempted queue before the last one of the list; so does this.
"""

import cython

from simnet.kernel.compiled import Public
from simnet.storage.block.cfq_queue import CfqContext, CfqQueue
from simnet.storage.block.elevator import Elevator, ScheduledQueue
from simnet.storage.block.request import IoContext, Request

IDLE_SLICE, IDLE_CLASS = range(2)
PRIORITIES = 8


@cython.cclass
class CfqService(Elevator):
    """The part of cfq that lets queues take turns."""

    # queues with requests: those that wait, by priority; with requests in the device; of this
    # round; of class "idle"
    rr_lists: Public[list[list[CfqQueue]]] = None
    busy_rr: Public[list[CfqQueue]] = None
    cur_rr: Public[list[CfqQueue]] = None
    idle_rr: Public[list[CfqQueue]] = None
    busy_queues: Public[cython.longlong] = 0  # how many there are
    # the queue that has its slice, and the process that used it first
    active: Public[CfqQueue] = None
    active_context: Public[CfqContext] = None
    cur_prio: Public[cython.longlong] = 0
    cur_end_prio: Public[cython.longlong] = 0
    dispatch_slice: Public[cython.longlong] = 0  # requests dispatched in this slice
    # jiffy of the last completion of another class than "idle"
    last_end_request: Public[cython.longlong] = 0
    slice_idle: Public[cython.longlong] = 0
    # by process; asynchronous ones of all processes are at None
    queues: Public[dict[IoContext | None, list[CfqQueue]]] = None

    def __init__(self, queue: ScheduledQueue) -> None:
        self.rr_lists = [[] for _ in range(PRIORITIES)]
        self.busy_rr = []
        self.cur_rr = []
        self.idle_rr = []
        self.queues = {}
        super().__init__(queue)

    def _resort(self, queue: CfqQueue, preempted: cython.bint = False) -> cython.int:  # noqa: FBT002
        """`cfq_resort_rr_list`."""
        position: cython.Py_ssize_t
        other: CfqQueue
        if queue.place is not None:
            queue.place.remove(queue)
        if queue.prio_class == "rt":
            place = self.cur_rr
        elif queue.prio_class == "idle":
            place = self.idle_rr
        else:
            place = self.busy_rr if queue.dispatched else self.rr_lists[queue.ioprio]
        queue.place = place
        if preempted:
            place.insert(-1, queue)
            return 0
        position = len(place)
        if place is not self.busy_rr:
            # by when they were served last
            while position > 0:
                other = place[position - 1]
                if other.service_last == 0 or other.service_last < queue.service_last:
                    break
                position -= 1
        place.insert(position, queue)
        return 0

    @cython.ccall
    def _next_priority(self) -> cython.bint:
        """`cfq_get_next_prio_level`: 0; 0, 1; 0, 1, 2; and so on."""
        level: cython.longlong
        wrapped = False
        while True:
            level = self.cur_prio
            while level <= self.cur_end_prio and not self.rr_lists[level]:
                level += 1
            if level <= self.cur_end_prio:
                break
            self.cur_prio = 0
            self.cur_end_prio += 1
            if self.cur_end_prio == PRIORITIES:
                self.cur_end_prio = 0
                if wrapped:
                    return False
                wrapped = True
        chosen = self.rr_lists[level]
        for queue in chosen:
            queue.place = self.cur_rr
        self.cur_rr[:0] = chosen
        chosen.clear()
        self.cur_prio = level + 1
        if self.cur_prio > self.cur_end_prio:
            self.cur_end_prio = self.cur_prio
            self.cur_prio = 0
        if self.cur_end_prio == PRIORITIES:
            self.cur_prio = self.cur_end_prio = 0
        return True

    def _activate(self, queue: CfqQueue) -> CfqQueue:
        """`__cfq_set_active_queue`; `queue` may be None."""
        if queue is not None:
            self.q.delete_timer(IDLE_CLASS)
            queue.slice_end = queue.slice_left = 0
            queue.must_alloc_slice = queue.fifo_expire = False
        self.active = queue
        return queue

    def _set_active(self) -> CfqQueue:
        """`cfq_set_active_queue`; None if none is served now."""
        queue: CfqQueue = None
        if self.cur_rr or self._next_priority():
            queue = self.cur_rr[0]
        elif self.busy_rr:
            queue = self.busy_rr[0]
        elif self.idle_rr:
            end = self.last_end_request + self.q.hz // 10
            if self.q.jiffies() >= end:
                queue = self.idle_rr[0]
            else:
                self.q.set_timer(IDLE_CLASS, end)
        return self._activate(queue)

    def _schedule_dispatch(self) -> cython.int:
        return self.q.schedule_work() if self.busy_queues else 0

    @cython.ccall
    def _expire(self, queue: CfqQueue, preempted: cython.bint = False) -> cython.int:  # noqa: FBT002
        """`__cfq_slice_expired`; `queue` may be None."""
        if queue is None:
            return 0
        now: cython.longlong = self.q.jiffies()
        if queue.wait_request:
            self.q.delete_timer(IDLE_SLICE)
        if not preempted and not queue.dispatched:
            queue.service_last = now
            self._schedule_dispatch()
        queue.must_dispatch = queue.wait_request = False
        queue.slice_left = max(queue.slice_end - now, 0)
        if queue.on_rr:
            self._resort(queue, preempted)
        if queue is self.active:
            self.active = None
        self.active_context = None
        self.dispatch_slice = 0
        return 0

    @cython.ccall
    def _find(self, key: IoContext, context: IoContext) -> CfqQueue:
        """`cfq_find_cfq_hash`: a process without a class takes any queue with its key."""
        queue: CfqQueue
        found = self.queues.get(key)
        if found is None:
            return None
        for queue in reversed(found):
            if (
                context.ioprio_class == "none"
                or (queue.prio_class, queue.ioprio) == context.priority
            ):
                return queue
        return None

    def allocated(self, request: Request) -> cython.int:
        """`cfq_set_request`: all writes are asynchronous there."""
        queue: CfqQueue
        context: IoContext = request.context
        data: CfqContext = context.elevator_data.get(self)
        if data is None:
            data = context.elevator_data[self] = CfqContext(context, self.q.jiffies())
        request.is_sync = not request.write
        queue = data.queues[request.is_sync]
        if queue is None:
            key = context if request.is_sync else None
            queue = self._find(key, context)
            if queue is None:
                queue = CfqQueue(key, context.priority, 2 * self.slice_idle)
                self.queues.setdefault(key, []).append(queue)
            data.queues[request.is_sync] = queue
        queue.allocated += 1
        request.queue = queue
        return 0

    def freed(self, request: Request) -> cython.int:
        """`cfq_put_request`: with its last request the queue of an ended process goes."""
        queue: CfqQueue = request.queue
        queue.allocated -= 1
        if queue.key is not None and not queue.key.running and not queue.allocated:
            self._forget(queue)
        return 0

    def _forget(self, queue: CfqQueue) -> None:
        if queue is self.active:
            self._expire(queue)
        self.queues.pop(queue.key, None)

    def process_exits(self, data: CfqContext) -> None:
        """`cfq_exit_single_io_context`."""
        for queue in data.queues:
            if queue is not None and queue is self.active:
                self._expire(queue)
        own = data.queues[True]
        if own is not None and not own.allocated:
            self._forget(own)
        data.queues = [None, None]
