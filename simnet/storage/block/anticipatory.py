"""anticipatory: after a read the disk may idle for a moment, for the same process' next one.

Source: block/as-iosched.c of Linux 2.6.18. Requests are synchronous (reads, and writes that
a process waits for) or not, each kind sorted and in order of arrival, and are served in batches of
one kind: half a second of reads, an eighth of writes, whose number adapts to that. After a read is
complete, requests that are far away wait up to `antic_expire` for the process that submitted it;
what is known of its think times and seek distances says whether that is worth while.

Two oddities of the source are kept. `as_merge` looks for front merges by data direction in lists
that are indexed the other way round, so that a bio is put in front only of the request that the
queue touched last, or of a synchronous write. And `as_close_req` compares milliseconds with
jiffies. What is anticipated, and for how long, is in `simnet.storage.block.anticipation`.
"""

from collections import deque
from typing import Any, ClassVar

import cython

from simnet.kernel.compiled import Public
from simnet.storage.block.anticipation import ANTIC_TIMER, OFF, WAIT_REQUEST, Anticipation
from simnet.storage.block.elevator import MUST_QUEUE, ScheduledQueue, Tunable, nearer
from simnet.storage.block.process_history import ProcessHistory
from simnet.storage.block.request import READ, WRITE, Bio, Request
from simnet.storage.block.sort_list import SortList

_ASYNC, _SYNC = 0, 1
_MAX_BACK = 1024 * 1024
_BACK_PENALTY = 2


@cython.cclass
class Anticipatory(Anticipation):
    """The anticipatory scheduler, the default of the time."""

    sort_list: Public[tuple[Any, ...]] = None
    fifo: Public[tuple[deque[Request], deque[Request]]] = None
    next: Public[list[Request | None]] = None
    last_check_fifo: Public[list[Any]] = None
    fifo_expire: Public[tuple[Any, ...]] = None
    batch_expire: Public[tuple[Any, ...]] = None
    changed_batch: Public[cython.bint] = False
    new_batch: Public[cython.bint] = False
    write_batch_idled: Public[cython.bint] = False
    nr_dispatched: Public[cython.longlong] = 0
    current_write_count: Public[cython.longlong] = 0
    current_batch_expires: Public[cython.longlong] = 0
    write_batch_count: Public[cython.longlong] = 0

    name: ClassVar[str] = "anticipatory"
    tunables: ClassVar[dict[str, Tunable]] = {
        "read_expire": Tunable(125, time=True),
        "write_expire": Tunable(250, time=True),
        "antic_expire": Tunable(6, time=True),
        "read_batch_expire": Tunable(500, time=True),
        "write_batch_expire": Tunable(125, time=True),
    }

    def __init__(self, queue: ScheduledQueue) -> None:
        self.sort_list = (SortList(), SortList())
        self.fifo = (deque(), deque())
        self.next = [None, None]
        self.last_check_fifo = [0, 0]
        super().__init__(queue)
        self.current_batch_expires = queue.jiffies() + self.batch_expire[_SYNC]
        self.write_batch_count = max(self.batch_expire[_ASYNC] // 10, 2)

    def tuned(self) -> None:
        """Take the tunables over."""
        values = self.values
        self.fifo_expire = (values["write_expire"], values["read_expire"])
        self.batch_expire = (values["write_batch_expire"], values["read_batch_expire"])
        self.antic_expire = values["antic_expire"]

    # which request is next

    def _choose(self, first: Request, second: Request) -> Request:
        """`as_choose_req`: nearer ahead; backwards, up to 512 MiB, counts twice."""
        if first is None or first is second:
            return second
        if second is None:
            return first
        return nearer(first, second, self.last_sector[first.is_sync], _MAX_BACK, _BACK_PENALTY)

    def _find_next(self, last: Request) -> Request:
        """`as_find_next_arq`: a neighbour by sector, or the lowest one."""
        requests: SortList = self.sort_list[last.is_sync]
        return self._choose(requests.following_or_first(last), requests.preceding(last))

    # batches

    @cython.ccall
    def _update_write_batch(self) -> cython.int:
        """`update_write_batch`: so many writes that they take their share of time."""
        batch = self.batch_expire[_ASYNC]
        write_time = max(self.q.jiffies() - self.current_batch_expires + batch, 0)
        if write_time > batch and not self.write_batch_idled:
            if write_time > batch * 3:
                self.write_batch_count //= 2
            else:
                self.write_batch_count -= 1
        elif write_time < batch and self.current_write_count == 0:
            if batch > write_time * 3:
                self.write_batch_count *= 2
            else:
                self.write_batch_count += 1
        self.write_batch_count = max(self.write_batch_count, 1)
        return 0

    def completed(self, request: Request) -> cython.int:
        """`as_completed_request`."""
        jiffies: cython.longlong = self.q.jiffies()
        if self.changed_batch and self.nr_dispatched == 1:
            self.q.schedule_work()
            self.changed_batch = False
            if self.batch_kind == _SYNC:
                self.new_batch = True
        self.nr_dispatched -= 1
        if self.new_batch and self.batch_kind == request.is_sync:
            self._update_write_batch()
            self.current_batch_expires = jiffies + self.batch_expire[_SYNC]
            self.new_batch = False
        process: ProcessHistory = self._history(request)
        if self.process is process:
            self.antic_start = jiffies
            self.process_finished = True
            if self.status == WAIT_REQUEST:
                self._wait_next()
        if request.is_sync:
            process.io_running = True
            process.last_end_request = jiffies
        return 0

    def _fifo_expired(self, kind: cython.int) -> cython.bint:
        """`as_fifo_expired`: looked at once in an expiry time, to spare the disk."""
        jiffies: cython.longlong = self.q.jiffies()
        if jiffies - self.last_check_fifo[kind] < self.fifo_expire[kind]:
            return False
        self.last_check_fifo[kind] = jiffies
        return bool(self.fifo[kind]) and jiffies > self.fifo[kind][0].expires

    def _batch_expired(self) -> cython.bint:
        """`as_batch_expired`."""
        if self.changed_batch or self.new_batch:
            return False
        if self.q.jiffies() > self.current_batch_expires:
            return True
        return self.batch_kind == _ASYNC and self.current_write_count == 0

    def _move(self, request: Request) -> cython.int:
        """`as_move_to_dispatch`."""
        kind: cython.int = request.is_sync
        self._stop()
        self.status = OFF
        self.last_sector[kind] = request.end()
        history: ProcessHistory = self._history(request)
        if kind == _SYNC:
            self.process = history
        else:
            self.process = None
            if self.current_write_count:
                self.current_write_count -= 1
        self.process_finished = False
        self.next[kind] = self._find_next(request)
        self._remove(request)
        self.q.dispatch_sort(request)
        history.nr_dispatched += 1
        self.nr_dispatched += 1
        return 0

    def _dispatch_all(self) -> cython.longlong:
        """Forced dispatch: all reads, then all writes."""
        dispatched = 0
        self.batch_kind = _SYNC
        self.changed_batch = self.new_batch = False
        for kind in (_SYNC, _ASYNC):
            request = self.next[kind]
            while request is not None:
                self._move(request)
                dispatched += 1
                request = self.next[kind]
            self.last_check_fifo[kind] = self.q.jiffies()
        return dispatched

    def dispatch(self, force: cython.bint = False) -> cython.longlong:  # noqa: FBT002 - cpdef
        """`as_dispatch_request`."""
        request: Request
        if force:
            return self._dispatch_all()
        reads, writes = bool(self.fifo[_SYNC]), bool(self.fifo[_ASYNC])
        if self.batch_kind == _ASYNC and not reads and (not self.current_write_count or not writes):
            self.write_batch_idled = True
        if not (reads or writes) or self.waiting() or self.changed_batch:
            return 0
        if not (reads and writes and self._batch_expired()):
            request = self.next[self.batch_kind]
            if self.batch_kind == _SYNC and self.antic_expire:
                if self._fifo_expired(_SYNC):
                    return self._begin(self.fifo[_SYNC][0])
                if self._can_anticipate(request):
                    self._wait_request()
                    return 0
            if request is not None:
                if reads and not writes:
                    self.current_batch_expires = self.q.jiffies() + self.batch_expire[_SYNC]
                return self._begin(self._oldest_if_expired(request))
        return self._begin(self._oldest_if_expired(self._new_batch(reads, writes)))

    def _new_batch(self, reads: cython.bint, writes: cython.bint) -> Request:
        """Choose the kind of the next batch, and its first request."""
        if reads and not (writes and self.batch_kind == _SYNC):
            if self.batch_kind == _ASYNC:
                self.changed_batch = True
            self.batch_kind = _SYNC
            self.last_check_fifo[_SYNC] = self.q.jiffies()
            return self.fifo[_SYNC][0]
        if self.batch_kind == _SYNC:
            self.changed_batch = True
            self.new_batch = False
        self.batch_kind = _ASYNC
        self.current_write_count = self.write_batch_count
        self.write_batch_idled = False
        return self.next[_ASYNC] or self.fifo[_ASYNC][0]

    def _oldest_if_expired(self, request: Request) -> Request:
        kind: cython.int = self.batch_kind
        return self.fifo[kind][0] if self._fifo_expired(kind) else request

    def _begin(self, request: Request) -> cython.longlong:
        """Dispatch a request, unless the last batch is still in the device."""
        if self.changed_batch:
            if self.nr_dispatched:
                return 0
            if self.batch_kind == _ASYNC:
                self.current_batch_expires = self.q.jiffies() + self.batch_expire[_ASYNC]
            else:
                self.new_batch = True
            self.changed_batch = False
        self._move(request)
        return 1

    # the queue

    def add(self, request: Request) -> cython.int:
        """`as_add_request`."""
        request.is_sync = not request.write or request.sync
        kind: cython.int = request.is_sync
        context = request.context
        history: ProcessHistory = context.elevator_data.get(self)
        if history is None:
            history = context.elevator_data[self] = ProcessHistory(running=context.running)
        request.queue = history
        self._update_history(history, request)
        history.nr_queued += 1
        self._sort(request)
        if request.mergeable():
            self.hash.add(request)
        request.expires = self.q.jiffies() + self.fifo_expire[kind]
        self.fifo[kind].append(request)
        self.next[kind] = self._choose(request, self.next[kind])
        if self.waiting() and self._can_break(request):
            self._stop()
        return 0

    def _sort(self, request: Request) -> cython.int:
        """`as_add_arq_rb`: a request for the same sector goes to the driver first."""
        requests: SortList = self.sort_list[request.is_sync]
        alias: Request = requests.add(request)
        while alias is not None:
            self._move(alias)
            self._stop()
            alias = requests.add(request)
        return 0

    def _remove(self, request: Request) -> cython.int:
        """`as_remove_queued_request`."""
        kind: cython.int = request.is_sync
        requests: SortList = self.sort_list[kind]
        history: ProcessHistory = self._history(request)
        history.nr_queued -= 1
        if self.next[kind] is request:
            self.next[kind] = self._find_next(request)
        self.fifo[kind].remove(request)
        self.hash.remove(request)
        return requests.remove(request)

    def activate(self, request: Request) -> cython.int:
        """`as_activate_request`."""
        history: ProcessHistory = self._history(request)
        history.nr_dispatched -= 1
        return 0

    def deactivate(self, request: Request) -> cython.int:
        """`as_deactivate_request`."""
        history: ProcessHistory = self._history(request)
        history.nr_dispatched += 1
        return 0

    def empty(self) -> cython.bint:
        """`as_queue_empty`."""
        return not (self.fifo[_ASYNC] or self.fifo[_SYNC])

    def former(self, request: Request) -> Request:
        """`as_former_request`."""
        requests: SortList = self.sort_list[request.is_sync]
        return requests.preceding(request)

    def latter(self, request: Request) -> Request:
        """`as_latter_request`."""
        requests: SortList = self.sort_list[request.is_sync]
        return requests.following(request)

    def behind(self, bio: Bio) -> SortList:
        """`as_merge`; see the module's docstring for the list in which it looks."""
        return self.sort_list[WRITE if bio.write else READ]

    def resort(self, request: Request) -> cython.int:
        """`as_merged_request`."""
        requests: SortList = self.sort_list[request.is_sync]
        requests.remove(request)
        return self._sort(request)

    def merged_requests(self, request: Request, following: Request) -> cython.int:
        """`as_merged_requests`: the earlier expiry holds for both, and its process."""
        self.merged(request)
        fifo = self.fifo[request.is_sync]
        if request.is_sync == following.is_sync and following.expires < request.expires:
            fifo.remove(request)
            fifo.insert(fifo.index(following), request)
            request.expires = following.expires
            request.queue, following.queue = following.queue, request.queue
        self._remove(following)
        if following.is_sync:
            self._history(following).io_running = True
            self._history(following).last_end_request = self.q.jiffies()
        return 0

    def may_queue(self, bio: Bio) -> cython.bint:
        """`as_may_queue`: the process that is waited for gets its request."""
        if self.waiting() and self.process is not None:
            return self.process is bio.context.elevator_data.get(self)
        return not MUST_QUEUE

    def shut(self) -> None:
        """`as_exit_queue`."""
        self.q.delete_timer(ANTIC_TIMER)
