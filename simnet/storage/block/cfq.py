"""cfq: a queue for each process, which take turns in slices of time.

Source: block/cfq-iosched.c of Linux 2.6.18. Reads are a process' own, writes go to a queue that all
processes of one priority share. The active queue is served for its slice (100 ms, 40 ms for
writes), four requests at a time; when it runs empty the disk idles up to 8 ms for the next read
of the process, unless that thinks longer than this in the mean. Reads of a process that seeks far
are waited for 2 ms at most, and not at all when the device takes more than four commands.
"""

from typing import Any, ClassVar

import cython

from simnet.kernel.compiled import Public
from simnet.storage.block.cfq_queue import CfqContext, CfqQueue
from simnet.storage.block.cfq_service import IDLE_CLASS, IDLE_SLICE, PRIORITIES, CfqService
from simnet.storage.block.elevator import MUST_QUEUE, ScheduledQueue, Tunable, nearer
from simnet.storage.block.request import Bio, Request
from simnet.storage.block.sort_list import SortList

_SLICE_SCALE = 5
_VALID_SAMPLES = 80
_SEEKY_SECTORS = 128 * 1024
_TAGGED = 4


@cython.cclass
class Cfq(CfqService):
    """The cfq scheduler."""

    rq_in_driver: Public[cython.longlong] = 0
    hw_tag: Public[cython.bint] = False
    last_sector: Public[cython.longlong] = 0
    fifo_expire: Public[tuple[Any, ...]] = None
    slice: Public[tuple[Any, ...]] = None
    slice_async_rq: cython.longlong = 0
    quantum: cython.longlong = 0
    back_sectors: cython.longlong = 0
    back_penalty: cython.longlong = 0

    name: ClassVar[str] = "cfq"
    tunables: ClassVar[dict[str, Tunable]] = {
        "quantum": Tunable(4, least=1),
        "queued": Tunable(8, least=1),
        "fifo_expire_sync": Tunable(125, time=True, least=1),
        "fifo_expire_async": Tunable(250, time=True, least=1),
        "back_seek_max": Tunable(16 * 1024),
        "back_seek_penalty": Tunable(2, least=1),
        "slice_sync": Tunable(100, time=True, least=1),
        "slice_async": Tunable(40, time=True, least=1),
        "slice_async_rq": Tunable(2, least=1),
        "slice_idle": Tunable(8, time=True),
    }

    def __init__(self, queue: ScheduledQueue) -> None:
        super().__init__(queue)

    def tuned(self) -> None:
        """Take the tunables over."""
        values = self.values
        self.fifo_expire = (values["fifo_expire_async"], values["fifo_expire_sync"])
        self.slice = (values["slice_async"], values["slice_sync"])
        self.slice_idle = values["slice_idle"]
        self.slice_async_rq = values["slice_async_rq"]
        self.quantum = values["quantum"]
        self.back_sectors = values["back_seek_max"] * 2
        self.back_penalty = values["back_seek_penalty"]

    # which request is next

    def _choose(self, first: Request, second: Request) -> Request:
        """`cfq_choose_req`: nearer ahead; backwards, up to `back_seek_max`, counts twice."""
        if first is None or first is second:
            return second
        if second is None:
            return first
        return nearer(first, second, self.last_sector, self.back_sectors, self.back_penalty)

    def _find_next(self, queue: CfqQueue, last: Request) -> Request:
        """`cfq_find_next_crq`."""
        requests: SortList = queue.sort_list
        return self._choose(requests.following_or_first(last), requests.preceding(last))

    # dispatching

    def _arm(self, queue: CfqQueue) -> cython.bint:
        """`cfq_arm_slice_timer`: idle for the next read; False if that is not worth while."""
        wait: cython.longlong
        context: CfqContext = self.active_context
        if not self.slice_idle or not queue.idle_window:
            return False
        if context is None or not context.context.running:
            return False
        queue.must_dispatch = queue.wait_request = True
        wait = min(queue.slice_end - 1, self.slice_idle)
        if context.seek_samples > _VALID_SAMPLES and context.seek_mean > _SEEKY_SECTORS:
            wait = min(wait, -(-2 * self.q.hz // 1000))
        self.q.set_timer(IDLE_SLICE, self.q.jiffies() + wait)
        return True

    def _select(self) -> CfqQueue:
        """`cfq_select_queue`; None if none is served now."""
        queue: CfqQueue = self.active
        if queue is None:
            return self._set_active()
        if queue.must_dispatch or self.q.jiffies() <= queue.slice_end:
            if len(queue.sort_list) > 0:
                return queue
            if queue.dispatched:
                return None
            if queue.key is not None and self._arm(queue):
                return None
        self._expire(queue)
        return self._set_active()

    def _insert_dispatched(self, request: Request) -> cython.int:
        """`cfq_dispatch_insert`."""
        queue: CfqQueue = request.queue
        queue.next = self._find_next(queue, request)
        self._remove(request)
        queue.dispatched += 1
        self.q.dispatch_sort(request)
        last: Request = self.q.head[len(self.q.head) - 1]
        self.last_sector = last.end()
        return 0

    def _expired_request(self, queue: CfqQueue) -> Request:
        """`cfq_check_fifo`: once a slice, the oldest request if its time is over."""
        if queue.fifo_expire or not queue.fifo:
            return None
        oldest: Request = queue.fifo[0]
        if self.q.jiffies() > oldest.start_jiffy + self.fifo_expire[queue.key is not None]:
            queue.fifo_expire = True
            return oldest
        return None

    def _dispatch_queue(self, queue: CfqQueue, most: cython.longlong) -> cython.longlong:
        """`__cfq_dispatch_requests`."""
        request: Request
        base: cython.longlong
        dispatched: cython.longlong = 0
        sync: cython.bint = queue.key is not None
        while dispatched < most:
            request = self._expired_request(queue)
            if request is None:
                request = queue.next
            if request is None:
                break
            self._insert_dispatched(request)
            self.dispatch_slice += 1
            dispatched += 1
            if self.active_context is None:
                self.active_context = request.context.elevator_data.get(self)
        if not queue.slice_end:
            base = self.slice[sync]
            queue.slice_end = base + base // _SLICE_SCALE * (4 - queue.ioprio) + self.q.jiffies()
        base = self.slice_async_rq
        most_in_slice: cython.longlong = 2 * (base + base * (PRIORITIES - 1 - queue.ioprio))
        if (
            (not sync and self.dispatch_slice >= most_in_slice)
            or queue.prio_class == "idle"
            or not queue.idle_window
        ):
            self._expire(self.active)
        return dispatched

    def _dispatch_all(self) -> int:
        """`cfq_forced_dispatch`."""
        dispatched = 0
        for place in (*self.rr_lists, self.busy_rr, self.cur_rr, self.idle_rr):
            for queue in list(place):
                while queue.next is not None:
                    self._insert_dispatched(queue.next)
                    dispatched += 1
        self._expire(self.active)
        return dispatched

    def dispatch(self, force: cython.bint = False) -> cython.longlong:  # noqa: FBT002 - cpdef
        """`cfq_dispatch_requests`."""
        queue: CfqQueue
        previous: CfqQueue = None
        most: cython.longlong
        dispatched: cython.longlong = 0
        if not self.busy_queues:
            return 0
        if force:
            return self._dispatch_all()
        while True:
            queue = self._select()
            if queue is None or queue is previous:
                return dispatched
            queue.must_dispatch = queue.wait_request = False
            self.q.delete_timer(IDLE_SLICE)
            most = 1 if queue.prio_class == "idle" else self.quantum
            dispatched += self._dispatch_queue(queue, most)
            if queue.idle_window and self.active is not None:
                return dispatched
            previous = queue

    # timers and completion

    def timer(self, number: cython.int) -> cython.int:
        """`cfq_idle_slice_timer`, `cfq_idle_class_timer`."""
        queue: CfqQueue = self.active
        if number == IDLE_CLASS:
            end = self.last_end_request + self.q.hz // 10
            if self.q.jiffies() < end:
                self.q.set_timer(IDLE_CLASS, end)
            else:
                self._schedule_dispatch()
            return 0
        if queue is not None and self.q.jiffies() <= queue.slice_end:
            if not self.busy_queues:
                return 0
            if len(queue.sort_list) > 0:
                queue.must_dispatch = True
                return self._schedule_dispatch()
        self._expire(queue)
        return self._schedule_dispatch()

    def work(self) -> cython.int:
        """`cfq_kick_queue`."""
        return self._start_queueing()

    def activate(self, request: Request) -> cython.int:
        """`cfq_activate_request`."""
        self.rq_in_driver += 1
        if self.rq_in_driver > _TAGGED:
            self.hw_tag = True
        return 0

    def deactivate(self, request: Request) -> cython.int:
        """`cfq_deactivate_request`."""
        self.rq_in_driver -= 1
        return 0

    def completed(self, request: Request) -> cython.int:
        """`cfq_completed_request`."""
        context: CfqContext
        queue: CfqQueue = request.queue
        now: cython.longlong = self.q.jiffies()
        self.rq_in_driver -= 1
        queue.dispatched -= 1
        if queue.prio_class != "idle":
            self.last_end_request = now
        if not queue.dispatched and queue.on_rr:
            queue.service_last = now
            self._resort(queue)
        if request.is_sync:
            context = request.context.elevator_data.get(self)
            if context is not None:
                context.last_end_request = now
        if queue is self.active:
            if now > queue.slice_end:
                self._expire(queue)
            elif request.is_sync and len(queue.sort_list) == 0 and not self._arm(queue):
                self._schedule_dispatch()
        return 0

    # arrival

    def may_queue(self, bio: Bio) -> cython.bint:
        """`cfq_may_queue`: a process that is waited for gets a request, once a slice."""
        queue: CfqQueue = self._find(None if bio.write else bio.context, bio.context)
        if queue is not None and queue.wait_request and not queue.must_alloc_slice:
            queue.must_alloc_slice = True
            return MUST_QUEUE
        return not MUST_QUEUE

    def add(self, request: Request) -> cython.int:
        """`cfq_insert_request`."""
        queue: CfqQueue = request.queue
        self._sort(queue, request)
        queue.fifo.append(request)
        if request.mergeable():
            self.hash.add(request)
        return self._enqueued(queue, request)

    def _sort(self, queue: CfqQueue, request: Request) -> cython.int:
        """`cfq_add_crq_rb`: a request for the same sector goes to the driver first."""
        alias: Request = queue.sort_list.add(request)
        while alias is not None:
            self._insert_dispatched(alias)
            alias = queue.sort_list.add(request)
        if not queue.on_rr:
            queue.on_rr = True
            self.busy_queues += 1
            self._resort(queue)
        queue.next = self._choose(queue.next, request)
        return 0

    def _enqueued(self, queue: CfqQueue, request: Request) -> cython.int:
        """`cfq_crq_enqueued`."""
        context: CfqContext = request.context.elevator_data[self]
        if not request.is_sync:
            if context is self.active_context and self.q.delete_timer(IDLE_SLICE):
                self._expire(self.active)
                self._start_queueing()
            return 0
        now: cython.longlong = self.q.jiffies()
        context.add_think_time(min(now - context.last_end_request, 2 * self.slice_idle))
        distance: cython.longlong = request.sector - context.last_request_pos
        context.add_seek(abs(distance))
        self._update_idle_window(queue, context)
        context.last_request_pos = request.end()
        if queue is self.active:
            if queue.wait_request:
                queue.must_dispatch = True
                self.q.delete_timer(IDLE_SLICE)
                self._start_queueing()
        elif self._should_preempt(queue, request):
            self._preempt(queue)
            queue.must_dispatch = True
            self._start_queueing()
        return 0

    def _update_idle_window(self, queue: CfqQueue, context: CfqContext) -> cython.int:
        """`cfq_update_idle_window`."""
        if (
            not context.context.running
            or not self.slice_idle
            or (self.hw_tag and context.seek_mean > _SEEKY_SECTORS)
        ):
            queue.idle_window = False
        elif context.ttime_samples > _VALID_SAMPLES:
            queue.idle_window = context.ttime_mean <= self.slice_idle
        return 0

    def _should_preempt(self, queue: CfqQueue, request: Request) -> cython.bint:
        """`cfq_should_preempt`."""
        active: CfqQueue = self.active
        if queue.prio_class == "idle" or active is None:
            return False
        if active.prio_class == "idle":
            return True
        if not queue.wait_request or queue.slice_left < self.slice_idle:
            return False
        return request.is_sync and active.key is None

    def _preempt(self, queue: CfqQueue) -> None:
        """`cfq_preempt_queue`."""
        for other in list(self.cur_rr):
            self._resort(other, True)
        self._expire(self.active, True)
        self._activate(queue)

    def _start_queueing(self) -> cython.int:
        """`cfq_start_queueing`."""
        self.q.remove_plug()
        return self.q.run()

    # merging

    def _remove(self, request: Request) -> cython.int:
        """`cfq_remove_request`."""
        queue: CfqQueue = request.queue
        queue.fifo.remove(request)
        if queue.next is request:
            queue.next = self._find_next(queue, request)
        queue.sort_list.remove(request)
        if queue.on_rr and len(queue.sort_list) == 0:
            queue.on_rr = False
            self.busy_queues -= 1
            if queue.place is not None:
                queue.place.remove(queue)
            queue.place = None
        return self.hash.remove(request)

    def behind(self, bio: Bio) -> SortList:
        """`cfq_merge`: to the front only of requests of the same process."""
        queue: CfqQueue = self._find(None if bio.write else bio.context, bio.context)
        return None if queue is None else queue.sort_list

    def resort(self, request: Request) -> cython.int:
        """`cfq_merged_request`."""
        queue: CfqQueue = request.queue
        if queue.next is request:
            queue.next = self._find_next(queue, request)
        queue.sort_list.remove(request)
        return self._sort(queue, request)

    def merged_requests(self, request: Request, following: Request) -> cython.int:
        """`cfq_merged_requests`.

        The kernel would move the request forward in the fifo if the other one were older, but has
        given it the earlier start of the two before it asks.
        """
        self.merged(request)
        return self._remove(following)

    def empty(self) -> cython.bint:
        """`cfq_queue_empty`."""
        return self.busy_queues == 0

    def former(self, request: Request) -> Request:
        """`cfq_former_request`."""
        queue: CfqQueue = request.queue
        return queue.sort_list.preceding(request)

    def latter(self, request: Request) -> Request:
        """`cfq_latter_request`."""
        queue: CfqQueue = request.queue
        return queue.sort_list.following(request)

    def shut(self) -> None:
        """`cfq_exit_queue`."""
        self._expire(self.active)
        self.q.delete_timer(IDLE_SLICE)
        self.q.delete_timer(IDLE_CLASS)
