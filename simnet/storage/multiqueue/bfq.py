"""bfq: turns of a budget of sectors each, in proportion to weights; and waiting for a process.

Source: block/bfq-iosched.c of Linux 6.12, with `low_latency` 0. Each process has a queue. One queue
is served until its budget is used up, its time is, it has no request, or another ends its turn: one
of a higher class or weight, or one that ran out of requests before its budget and begins again
soon. That one goes on with what is left of its budget, from the virtual time where it stopped. The
order of queues is that of `simnet.storage.multiqueue.bfq_queue`. Real time comes before best effort
before idle. A queue that used its budget up gets a larger one, one that ran out of requests what it
used.

While a queue has requests in the drive and none that wait, others are served at once, unless it is
the only one that is busy, or weights or classes differ and it is not of the smallest weight: then
bfq waits for it, `slice_idle` at most once its last request is complete, 2 ms for one that reads
here and there. That keeps the shares and costs throughput.

Left out: raising weights of interactive and soft real-time processes (`low_latency`), injecting
other queues' requests while it waits, merging of cooperating queues, `max_budget` from the drive's
rate, charging slow queues for time, groups, and asynchronous requests, which direct I/O has not.
"""

from typing import Any, ClassVar

import cython

from simnet.storage.block.elevator import Tunable, nearer
from simnet.storage.block.request import Bio, IoContext, Request
from simnet.storage.block.sort_list import SortList
from simnet.storage.multiqueue.bfq_queue import BfqQueue, ServiceTree
from simnet.storage.multiqueue.request import MqRequest
from simnet.storage.multiqueue.scheduler import MqScheduler

_CLASSES = {"rt": 0, "be": 1, "idle": 2}
_IDLE_CLASS = 2
_MAX_BUDGET = 16 * 1024
# reasons for which a turn ends
TIMEOUT, EXHAUSTED, NO_MORE_REQUESTS, TOO_IDLE, PREEMPTED = range(5)
_PS_PER_MS = 10**9
# BFQ_MIN_TT: how long it waits for a process that seeks, where weights and classes do not differ
_SEEKY_IDLE_PS = 2 * _PS_PER_MS
# begins again soon: within so many `slice_idle` of its last completion
_IN_TIME = 3


@cython.cclass
class Bfq(MqScheduler):
    """The bfq scheduler."""

    trees: list[Any] = None
    queues: dict[IoContext, BfqQueue] = None  # of processes, by context
    in_service: BfqQueue = None  # whose turn it is
    waiting: cython.longlong = 0
    last_position: cython.longlong = 0
    expired: list[Any] = None  # how often a turn ended, by reason
    slice_idle_ps: cython.longlong = 0
    timeout: cython.longlong = 0
    max_budget: cython.longlong = 0
    fifo_expire: cython.longlong = 0
    back_sectors: cython.longlong = 0
    back_penalty: cython.longlong = 0

    end_holds = 1
    name: ClassVar[str] = "bfq"
    tunables: ClassVar[dict[str, Tunable]] = {
        "slice_idle": Tunable(8),
        "timeout_sync": Tunable(125, time=True),
        "max_budget": Tunable(0),
        "fifo_expire_sync": Tunable(125, time=True),
        "back_seek_max": Tunable(16 * 1024),
        "back_seek_penalty": Tunable(2, least=1),
    }

    def __init__(self, queue: Any) -> None:
        self.trees = [ServiceTree() for _ in _CLASSES]
        self.queues = {}
        self.expired = [0] * 5
        super().__init__(queue)

    def tuned(self) -> None:
        """Take the tunables over."""
        self.slice_idle_ps = self.values["slice_idle"] * _PS_PER_MS
        self.timeout = self.values["timeout_sync"]
        self.max_budget = self.values["max_budget"] or _MAX_BUDGET
        self.fifo_expire = self.values["fifo_expire_sync"]
        self.back_sectors = self.values["back_seek_max"] * 2
        self.back_penalty = self.values["back_seek_penalty"]

    def _tree(self, queue: BfqQueue) -> ServiceTree:
        return self.trees[_CLASSES[queue.context.priority[0]]]

    # requests

    def insert(self, request: MqRequest) -> cython.int:
        """`bfq_insert_request`; a queue without requests becomes busy."""
        queue = self.queues.get(request.context)
        if queue is None:
            queue = BfqQueue(request.context, 2 * self.max_budget // 3)
            self.queues[request.context] = queue
        request.queue = queue
        request.expires = self.mq.jiffies() + self.fifo_expire
        queue.sort_list.insert(request)
        queue.fifo.append(request)
        self.waiting += 1
        if request.mergeable():
            self.hash.add(request)
            if self.mq.last_merge is None:
                self.mq.last_merge = request
        queue.next = self._nearer(queue.next, request)
        if not queue.active:
            self._busy(queue, request)
        queue.note_seek(request)
        if queue.waits:
            queue.waits = False
            self.mq.delete_timer(0)
            if self._time_is_over(queue):
                self._expire(queue, TIMEOUT)
        return 0

    def _busy(self, queue: BfqQueue, request: MqRequest) -> None:
        """`bfq_bfqq_handle_idle_busy_switch`: it may end the turn of another."""
        in_time = self.mq.sim.now <= queue.last_done_ps + _IN_TIME * self.slice_idle_ps
        again = queue.ran_out and in_time and queue.left > 0
        if again:
            queue.budget = min(queue.left, queue.max_budget)
        else:
            queue.budget = max(queue.max_budget, request.sectors)
        queue.service = 0
        queue.ran_out = False
        queue.active = True
        self._tree(queue).activate(queue, shifted=again)
        served = self.in_service
        if served is not None and (again or self._higher(queue, served)):
            self._expire(served, PREEMPTED)

    def _higher(self, queue: BfqQueue, served: BfqQueue) -> bool:
        """`bfq_bfqq_higher_class_or_weight`."""
        classes = [self.trees.index(self._tree(one)) for one in (queue, served)]
        return classes[0] < classes[1] or queue.weight > served.weight

    def _nearer(self, first: Request | None, second: Request | None) -> Request | None:
        """`bfq_choose_req`."""
        if first is None or second is None or first is second:
            return first or second
        return nearer(first, second, self.last_position, self.back_sectors, self.back_penalty)

    def _following(self, queue: BfqQueue, last: Request) -> Request | None:
        """`bfq_find_next_rq`: the oldest if it is overdue, else the nearest neighbour."""
        if not queue.fifo_checked:
            queue.fifo_checked = True
            oldest = queue.fifo[0]
            if oldest is not last and self.mq.jiffies() >= oldest.expires:
                return oldest
        after, before = queue.sort_list.following_or_first(last), queue.sort_list.preceding(last)
        return self._nearer(after, before)

    def _remove(self, request: Request) -> None:
        """`bfq_remove_request`."""
        queue: BfqQueue = request.queue
        if queue.next is request:
            queue.next = self._following(queue, request)
        queue.sort_list.remove(request)
        queue.fifo.remove(request)
        self.hash.remove(request)
        self.waiting -= 1

    def behind(self, bio: Bio) -> SortList:
        """`bfq_request_merge`."""
        queue: BfqQueue = self.queues.get(bio.context)
        return None if queue is None else queue.sort_list

    def may_merge(self, request: Request, bio: Bio) -> cython.bint:
        """`bfq_allow_bio_merge`: with requests of the same process."""
        return request.takes(bio) and request.queue is self.queues.get(bio.context)

    def resort(self, request: Request) -> cython.int:
        """`bfq_request_merged`."""
        queue: BfqQueue = request.queue
        queue.sort_list.remove(request)
        return queue.sort_list.insert(request)

    def merged_requests(self, request: Request, following: Request) -> cython.int:
        """`bfq_requests_merged`: the earlier deadline holds for both."""
        self.merged(request)
        request.expires = min(request.expires, following.expires)
        self._remove(following)
        return 0

    def former(self, request: Request) -> Request:
        """`elv_rb_former_request`."""
        queue: BfqQueue = request.queue
        return queue.sort_list.preceding(request)

    def latter(self, request: Request) -> Request:
        """`elv_rb_latter_request`."""
        queue: BfqQueue = request.queue
        return queue.sort_list.following(request)

    # turns

    def has_work(self, hardware: Any) -> cython.bint:
        """`bfq_has_work`."""
        return self.waiting > 0

    def next_request(self, hardware: Any) -> MqRequest:
        """`bfq_dispatch_request`: of the queue whose turn it is."""
        queue = self._select()
        if queue is None or queue.next is None:
            return None
        request: MqRequest = queue.next  # type: ignore[assignment]
        queue.service += request.sectors
        self._tree(queue).served(request.sectors)
        self.last_position = request.end()
        self._remove(request)
        queue.dispatched += 1
        if self._tree(queue) is self.trees[_IDLE_CLASS] and self._others_are_busy(queue):
            self._expire(queue, EXHAUSTED)
        return request

    def _others_are_busy(self, queue: BfqQueue) -> bool:
        return any(one.active and one is not queue for one in self.queues.values())

    def _select(self) -> BfqQueue | None:
        """`bfq_select_queue`; None while it waits for the one whose turn it is."""
        queue = self.in_service
        if queue is not None and self._timed_out(queue) and not self._must_idle(queue):
            self._expire(queue, TIMEOUT)
            queue = None
        while True:
            if queue is None:
                queue = self._begin()
                if queue is None:
                    return None
            if queue.next is not None:
                if queue.next.sectors <= queue.left:
                    return queue
                self._expire(queue, EXHAUSTED)
            elif queue.waits or (queue.dispatched and self._better_to_idle(queue)):
                return None
            else:
                self._expire(queue, NO_MORE_REQUESTS)
            queue = None

    def _begin(self) -> BfqQueue | None:
        """`bfq_set_in_service_queue`: of the highest class that has one."""
        for tree in self.trees:
            queue = tree.select()
            if queue is not None:
                queue.fifo_checked = False
                queue.begun_jiffy = self.mq.jiffies()
                queue.timeout = queue.begun_jiffy + self.timeout
                self.in_service = queue
                return queue
        return None

    def _time_is_over(self, queue: BfqQueue) -> bool:
        """`bfq_bfqq_budget_timeout`."""
        return bool(self.mq.jiffies() >= queue.timeout)

    def _timed_out(self, queue: BfqQueue) -> bool:
        """`bfq_may_expire_for_budg_timeout`."""
        waits = queue.waits and queue.left < queue.budget // 3
        return self._time_is_over(queue) and not waits

    def _must_idle(self, queue: BfqQueue) -> bool:
        return queue.next is None and self._better_to_idle(queue)

    def _better_to_idle(self, queue: BfqQueue) -> bool:
        """`bfq_better_to_idle` of flash that queues commands: only for the shares."""
        if not self.slice_idle_ps or self._tree(queue) is self.trees[_IDLE_CLASS]:
            return False
        return self._keeps_shares(queue)

    def _keeps_shares(self, queue: BfqQueue) -> bool:
        """`idling_needed_for_service_guarantees`."""
        return self._uneven(queue) or sum(one.active for one in self.queues.values()) == 1

    def _uneven(self, queue: BfqQueue) -> bool:
        """`bfq_asymmetric_scenario`: several classes, or weights of which it has not the least."""
        busy = [one for one in self.queues.values() if one.active or one.dispatched]
        if len({id(self._tree(one)) for one in busy if one.active}) > 1:
            return True
        weights = {one.weight for one in busy}
        return len(weights) > 1 and queue.weight > min(weights)

    def _expire(self, queue: BfqQueue, reason: int) -> None:
        """`bfq_bfqq_expire`: the turn is over."""
        self.expired[reason] += 1
        if reason == TIMEOUT and queue.left >= queue.budget // 3:
            self._charge_time(queue)
        queue.max_budget = self._recalculated(queue, reason)
        tree = self._tree(queue)
        queue.waits = False
        self.mq.delete_timer(0)
        self.in_service = None
        if queue.next is None and not (reason == PREEMPTED and self._keeps_shares(queue)):
            queue.active = False
            tree.deactivate(queue)
            queue.ran_out = reason not in {TIMEOUT, EXHAUSTED}
            return
        if queue.next is not None and reason != PREEMPTED:
            queue.budget = max(queue.max_budget, queue.next.sectors)
        tree.requeue(queue)

    def _charge_time(self, queue: BfqQueue) -> None:
        """`bfq_bfqq_charge_time`: as much of a budget as its turn took of the most time."""
        jiffies = min(self.mq.jiffies() - queue.begun_jiffy, self.timeout)
        charge = max(self.max_budget * jiffies // self.timeout, queue.service)
        queue.budget = max(queue.budget, charge)
        self._tree(queue).served(charge - queue.service)
        queue.service = charge

    def _recalculated(self, queue: BfqQueue, reason: int) -> int:
        """`__bfq_bfqq_recalc_budget`."""
        budget, least, most = queue.max_budget, self.max_budget // 32, self.max_budget
        if reason == TOO_IDLE:
            if queue.dispatched:
                budget = min(budget * 2, most)
            else:
                budget = budget - 4 * least if budget > 5 * least else least
        elif reason == TIMEOUT:
            budget = min(budget * 2, most)
        elif reason == EXHAUSTED:
            budget = min(budget * 4, most)
        elif reason == NO_MORE_REQUESTS:
            budget = max(queue.service, least)
        return budget

    def done(self, request: MqRequest) -> cython.int:
        """`bfq_completed_request`."""
        queue: Any = request.queue
        queue.dispatched -= 1
        queue.last_done_ps = self.mq.sim.now
        if self.in_service is not queue:
            return 0
        if self._must_idle(queue):
            if queue.dispatched == 0:
                queue.waits = True
                self.mq.set_timer_at(0, self.mq.sim.now + self._idle_ps(queue))
        elif self._timed_out(queue):
            self._expire(queue, TIMEOUT)
        elif queue.next is None and not (queue.dispatched and self._better_to_idle(queue)):
            self._expire(queue, NO_MORE_REQUESTS)
        return 0

    def _idle_ps(self, queue: BfqQueue) -> int:
        """`bfq_arm_slice_timer`."""
        most = self.slice_idle_ps
        return min(most, _SEEKY_IDLE_PS) if queue.seeky and not self._uneven(queue) else most

    def timer(self, number: cython.int) -> cython.int:
        """`bfq_idle_slice_timer`: the process has not gone on; others have their turn."""
        queue = self.in_service
        if queue is not None:
            self._expire(queue, TIMEOUT if self._time_is_over(queue) else TOO_IDLE)
        self.mq.run_all()
        return 0
