"""cfq: a queue for each process, which take turns in slices of time.

Source: block/cfq-iosched.c of Linux 2.6.18. Reads are a process' own, writes go to a queue that all
processes of one priority share. The active queue is served for its slice (100 ms, 40 ms for
writes), four requests at a time; when it runs empty the disk idles up to 8 ms for the next read
of the process, unless that thinks longer than this in the mean. Reads of a process that seeks far
are waited for 2 ms at most, and not at all when the device takes more than four commands.
"""

from __future__ import annotations

from typing import Any, ClassVar

from simnet.storage.block.cfq_queue import CfqContext, CfqQueue
from simnet.storage.block.cfq_service import IDLE_CLASS, IDLE_SLICE, PRIORITIES, CfqService
from simnet.storage.block.elevator import (
    BACK_MERGE,
    FRONT_MERGE,
    MUST_QUEUE,
    NO_MERGE,
    ScheduledQueue,
    Tunable,
    nearer,
)
from simnet.storage.block.request import Bio, Request
from simnet.storage.block.sort_list import MergeHash

__all__ = ["Cfq"]

_SLICE_SCALE = 5
_VALID_SAMPLES = 80
_SEEKY_SECTORS = 128 * 1024
_TAGGED = 4


class Cfq(CfqService):
    """The cfq scheduler."""

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
        self.hash = MergeHash()
        self.rq_in_driver = 0
        self.hw_tag = False
        self.last_sector = 0
        super().__init__(queue)

    def tuned(self) -> None:
        """Take the tunables over."""
        values = self.values
        self.fifo_expire = (values["fifo_expire_async"], values["fifo_expire_sync"])
        self.slice = (values["slice_async"], values["slice_sync"])
        self.slice_idle = values["slice_idle"]

    # which request is next

    def _choose(self, first: Request | None, second: Request | None) -> Request | None:
        """`cfq_choose_req`: nearer ahead; backwards, up to `back_seek_max`, counts twice."""
        if first is None or first is second:
            return second
        if second is None:
            return first
        back_max, penalty = self.values["back_seek_max"] * 2, self.values["back_seek_penalty"]
        return nearer(first, second, self.last_sector, back_max, penalty)

    def _find_next(self, queue: CfqQueue, last: Request) -> Request | None:
        """`cfq_find_next_crq`."""
        requests = queue.sort_list
        return self._choose(requests.following_or_first(last), requests.preceding(last))

    # dispatching

    def _arm(self, queue: CfqQueue) -> bool:
        """`cfq_arm_slice_timer`: idle for the next read; False if that is not worth while."""
        context = self.active_context
        if not self.slice_idle or not queue.idle_window:
            return False
        if context is None or not context.context.running:
            return False
        queue.must_dispatch = queue.wait_request = True
        wait = min(queue.slice_end - 1, self.slice_idle)
        if context.seek_samples > _VALID_SAMPLES and context.seek_mean > _SEEKY_SECTORS:
            wait = min(wait, -(-2 * self.q.hz // 1000))
        self.q.set_timer(IDLE_SLICE, self.q.jiffies + wait)
        return True

    def _select(self) -> CfqQueue | None:
        """`cfq_select_queue`."""
        queue = self.active
        if queue is None:
            return self._set_active()
        if queue.must_dispatch or self.q.jiffies <= queue.slice_end:
            if queue.sort_list:
                return queue
            if queue.dispatched:
                return None
            if queue.sync and self._arm(queue):
                return None
        self._expire(queue)
        return self._set_active()

    def _insert_dispatched(self, request: Request) -> None:
        """`cfq_dispatch_insert`."""
        queue: CfqQueue = request.queue
        queue.next = self._find_next(queue, request)
        self._remove(request)
        queue.dispatched += 1
        self.q.dispatch_sort(request)
        last: Request = self.q.head[len(self.q.head) - 1]
        self.last_sector = last.end

    def _expired_request(self, queue: CfqQueue) -> Request | None:
        """`cfq_check_fifo`: once a slice, the oldest request if its time is over."""
        if queue.fifo_expire or not queue.fifo:
            return None
        oldest = queue.fifo[0]
        if self.q.jiffies > oldest.start_jiffy + self.fifo_expire[queue.sync]:
            queue.fifo_expire = True
            return oldest
        return None

    def _dispatch_queue(self, queue: CfqQueue, most: int) -> int:
        """`__cfq_dispatch_requests`."""
        dispatched = 0
        while dispatched < most:
            request = self._expired_request(queue) or queue.next
            if request is None:
                break
            self._insert_dispatched(request)
            self.dispatch_slice += 1
            dispatched += 1
            if self.active_context is None:
                self.active_context = request.context.elevator_data.get(self)
        if not queue.slice_end:
            base = self.slice[queue.sync]
            queue.slice_end = base + base // _SLICE_SCALE * (4 - queue.ioprio) + self.q.jiffies
        base = self.values["slice_async_rq"]
        most_in_slice = 2 * (base + base * (PRIORITIES - 1 - queue.ioprio))
        if (
            (not queue.sync and self.dispatch_slice >= most_in_slice)
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

    def dispatch(self, *, force: bool = False) -> int:
        """`cfq_dispatch_requests`."""
        if not self.busy_queues:
            return 0
        if force:
            return self._dispatch_all()
        dispatched = 0
        previous = None
        while True:
            queue = self._select()
            if queue is None or queue is previous:
                return dispatched
            queue.must_dispatch = queue.wait_request = False
            self.q.delete_timer(IDLE_SLICE)
            most = 1 if queue.prio_class == "idle" else self.values["quantum"]
            dispatched += self._dispatch_queue(queue, most)
            if queue.idle_window and self.active is not None:
                return dispatched
            previous = queue

    # timers and completion

    def timer(self, number: int) -> None:
        """`cfq_idle_slice_timer`, `cfq_idle_class_timer`."""
        queue = self.active
        if number == IDLE_CLASS:
            end = self.last_end_request + self.q.hz // 10
            if self.q.jiffies < end:
                self.q.set_timer(IDLE_CLASS, end)
            else:
                self._schedule_dispatch()
            return
        if queue is not None and self.q.jiffies <= queue.slice_end:
            if not self.busy_queues:
                return
            if queue.sort_list:
                queue.must_dispatch = True
                self._schedule_dispatch()
                return
        self._expire(queue)
        self._schedule_dispatch()

    def work(self) -> None:
        """`cfq_kick_queue`."""
        self.q.remove_plug()
        self.q.run()

    def activate(self, request: Request) -> None:
        """`cfq_activate_request`."""
        self.rq_in_driver += 1
        if self.rq_in_driver > _TAGGED:
            self.hw_tag = True

    def deactivate(self, request: Request) -> None:
        """`cfq_deactivate_request`."""
        self.rq_in_driver -= 1

    def completed(self, request: Request) -> None:
        """`cfq_completed_request`."""
        queue: CfqQueue = request.queue
        now = self.q.jiffies
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
            elif request.is_sync and not queue.sort_list and not self._arm(queue):
                self._schedule_dispatch()

    # arrival

    def may_queue(self, bio: Bio) -> bool:
        """`cfq_may_queue`: a process that is waited for gets a request, once a slice."""
        queue = self._find(None if bio.write else bio.context, bio.context)
        if queue is not None and queue.wait_request and not queue.must_alloc_slice:
            queue.must_alloc_slice = True
            return MUST_QUEUE
        return not MUST_QUEUE

    def add(self, request: Request) -> None:
        """`cfq_insert_request`."""
        queue: CfqQueue = request.queue
        self._sort(queue, request)
        queue.fifo.append(request)
        if request.mergeable:
            self.hash.add(request)
        self._enqueued(queue, request)

    def _sort(self, queue: CfqQueue, request: Request) -> None:
        """`cfq_add_crq_rb`: a request for the same sector goes to the driver first."""
        alias = queue.sort_list.add(request)
        while alias is not None:
            self._insert_dispatched(alias)
            alias = queue.sort_list.add(request)
        if not queue.on_rr:
            queue.on_rr = True
            self.busy_queues += 1
            self._resort(queue)
        queue.next = self._choose(queue.next, request)

    def _enqueued(self, queue: CfqQueue, request: Request) -> None:
        """`cfq_crq_enqueued`."""
        context: CfqContext = request.context.elevator_data[self]
        if not request.is_sync:
            if context is self.active_context and self.q.delete_timer(IDLE_SLICE):
                self._expire(self.active)
                self._start_queueing()
            return
        now = self.q.jiffies
        context.add_think_time(min(now - context.last_end_request, 2 * self.slice_idle))
        context.add_seek(abs(request.sector - context.last_request_pos))
        self._update_idle_window(queue, context)
        context.last_request_pos = request.end
        if queue is self.active:
            if queue.wait_request:
                queue.must_dispatch = True
                self.q.delete_timer(IDLE_SLICE)
                self._start_queueing()
        elif self._should_preempt(queue, request):
            self._preempt(queue)
            queue.must_dispatch = True
            self._start_queueing()

    def _update_idle_window(self, queue: CfqQueue, context: CfqContext) -> None:
        """`cfq_update_idle_window`."""
        if (
            not context.context.running
            or not self.slice_idle
            or (self.hw_tag and context.seek_mean > _SEEKY_SECTORS)
        ):
            queue.idle_window = False
        elif context.ttime_samples > _VALID_SAMPLES:
            queue.idle_window = context.ttime_mean <= self.slice_idle

    def _should_preempt(self, queue: CfqQueue, request: Request) -> bool:
        """`cfq_should_preempt`."""
        active = self.active
        if queue.prio_class == "idle" or active is None:
            return False
        if active.prio_class == "idle":
            return True
        if not queue.wait_request or queue.slice_left < self.slice_idle:
            return False
        return request.is_sync and not active.sync

    def _preempt(self, queue: CfqQueue) -> None:
        """`cfq_preempt_queue`."""
        for other in list(self.cur_rr):
            self._resort(other, preempted=True)
        self._expire(self.active, preempted=True)
        self._activate(queue)

    def _start_queueing(self) -> None:
        """`cfq_start_queueing`."""
        self.q.remove_plug()
        self.q.run()

    # merging

    def _remove(self, request: Request) -> None:
        """`cfq_remove_request`."""
        queue: CfqQueue = request.queue
        queue.fifo.remove(request)
        if queue.next is request:
            queue.next = self._find_next(queue, request)
        queue.sort_list.remove(request)
        if queue.on_rr and not queue.sort_list:
            queue.on_rr = False
            self.busy_queues -= 1
            if queue.place is not None:
                queue.place.remove(queue)
            queue.place = None
        self.hash.remove(request)

    def merge(self, bio: Bio) -> tuple[int, Any]:
        """`cfq_merge`: to the front only of requests of the same process."""
        request = self.hash.find(bio.sector)
        if request is not None and self.may_merge(request, bio):
            return BACK_MERGE, request
        queue = self._find(None if bio.write else bio.context, bio.context)
        if queue is not None:
            request = queue.sort_list.find(bio.sector + bio.sectors)
            if request is not None and self.may_merge(request, bio):
                return FRONT_MERGE, request
        return NO_MERGE, None

    def merged(self, request: Request) -> None:
        """`cfq_merged_request`."""
        self.hash.remove(request)
        self.hash.add(request)
        if request.sector != request.key:
            queue: CfqQueue = request.queue
            if queue.next is request:
                queue.next = self._find_next(queue, request)
            queue.sort_list.remove(request)
            self._sort(queue, request)

    def merged_requests(self, request: Request, following: Request) -> None:
        """`cfq_merged_requests`.

        The kernel would move the request forward in the fifo if the other one were older, but has
        given it the earlier start of the two before it asks.
        """
        self.merged(request)
        self._remove(following)

    def empty(self) -> bool:
        """`cfq_queue_empty`."""
        return not self.busy_queues

    def former(self, request: Request) -> Request | None:
        """`cfq_former_request`."""
        former: Request | None = request.queue.sort_list.preceding(request)
        return former

    def latter(self, request: Request) -> Request | None:
        """`cfq_latter_request`."""
        latter: Request | None = request.queue.sort_list.following(request)
        return latter

    def shut(self) -> None:
        """`cfq_exit_queue`."""
        self._expire(self.active)
        self.q.delete_timer(IDLE_SLICE)
        self.q.delete_timer(IDLE_CLASS)
