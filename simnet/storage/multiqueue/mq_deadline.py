"""mq-deadline: batches in the order of sectors, deadlines, and priorities that age.

Source: block/mq-deadline.c of Linux 6.12. There are lists for each priority class: real time, best
effort, idle. A lower class is served while a higher one has requests only when its own have waited
`prio_aging_expire`. Within a class a batch of `fifo_batch` requests goes on in one direction in the
order of sectors. Then reads go before writes unless they have done so `writes_starved` times, from
where the direction was, or from its oldest request if that one's deadline is over or none has a
higher sector. Zones and `async_depth` are left out; before 5.14 all classes are one.
"""

from collections import deque
from typing import Any, ClassVar

import cython

from simnet.kernel.compiled import Public
from simnet.storage.block.elevator import Tunable
from simnet.storage.block.request import READ, WRITE, Bio, IoContext, Request
from simnet.storage.block.sort_list import SortList
from simnet.storage.multiqueue.request import MqRequest
from simnet.storage.multiqueue.scheduler import MqScheduler

_CLASSES = {"rt": 0, "be": 1, "none": 1, "idle": 2}
_BEST_EFFORT: cython.int = 1
_PRIORITIES: cython.int = 3


@cython.cclass
class PerPriority:
    """The requests of one class (`struct dd_per_prio`)."""

    sort_list: Public[tuple[Any, ...]] = None
    fifo: Public[tuple[deque[Request], deque[Request]]] = None
    # sector of the request that was dispatched last, by direction
    latest_pos: Public[list[Any]] = None
    queued: Public[cython.longlong] = 0  # inserted and not complete

    def __init__(self) -> None:
        self.sort_list = (SortList(), SortList())
        self.fifo = (deque(), deque())
        self.latest_pos = [0, 0]


@cython.cclass
class MqDeadline(MqScheduler):
    """The mq-deadline scheduler."""

    per_prio: list[Any] = None
    waiting: cython.longlong = 0
    last_dir: cython.int = 0
    batching: cython.longlong = 0
    starved: cython.longlong = 0
    fifo_expire: tuple[Any, ...] = None
    writes_starved: cython.longlong = 0
    front_merges: cython.bint = False
    fifo_batch: cython.longlong = 0
    aging: cython.longlong = 0

    name: ClassVar[str] = "mq-deadline"
    tunables: ClassVar[dict[str, Tunable]] = {
        "read_expire": Tunable(500, time=True),
        "write_expire": Tunable(5000, time=True),
        "writes_starved": Tunable(2, least=-(1 << 31)),
        "front_merges": Tunable(1, most=1),
        "fifo_batch": Tunable(16),
        "prio_aging_expire": Tunable(10_000, time=True),
    }

    def __init__(self, queue: Any) -> None:
        self.per_prio = [PerPriority() for _ in range(_PRIORITIES)]
        self.last_dir = WRITE
        super().__init__(queue)

    def tuned(self) -> None:
        """Take the tunables over."""
        values = self.values
        self.fifo_expire = (values["read_expire"], values["write_expire"])
        self.writes_starved = values["writes_starved"]
        self.front_merges = bool(values["front_merges"])
        self.fifo_batch = values["fifo_batch"]
        self.aging = values["prio_aging_expire"]

    @cython.ccall
    def _of(self, context: IoContext) -> PerPriority:
        return self.per_prio[_CLASSES[context.ioprio_class]]

    def insert(self, request: MqRequest) -> cython.int:
        """`dd_insert_request`."""
        mine: PerPriority = self._of(request.context)
        if not request.token:
            request.token = True
            mine.queued += 1
        self._sorted(request).insert(request)
        if request.mergeable():
            self.hash.add(request)
            if self.mq.last_merge is None:
                self.mq.last_merge = request
        request.expires = self.mq.jiffies() + self.fifo_expire[request.rw]
        mine.fifo[request.rw].append(request)
        self.waiting += 1
        return 0

    def _remove(self, mine: PerPriority, request: Request) -> cython.int:
        """`deadline_remove_request`."""
        mine.fifo[request.rw].remove(request)
        self._sorted(request).remove(request)
        self.hash.remove(request)
        self.waiting -= 1
        return 0

    def behind(self, bio: Bio) -> SortList:
        """`dd_request_merge`."""
        mine: PerPriority = self._of(bio.context)
        return mine.sort_list[WRITE if bio.write else READ] if self.front_merges else None

    def may_merge(self, request: Request, bio: Bio) -> cython.bint:
        """`elv_bio_merge_ok`."""
        return request.takes(bio) and request.context.ioprio_class == bio.context.ioprio_class

    def resort(self, request: Request) -> cython.int:
        """`dd_request_merged`."""
        requests: SortList = self._sorted(request)
        requests.remove(request)
        return requests.insert(request)

    def _sorted(self, request: Request) -> SortList:
        mine: PerPriority = self._of(request.context)
        return mine.sort_list[request.rw]

    def merged_requests(self, request: Request, following: Request) -> cython.int:
        """`dd_merged_requests`: the earlier deadline holds for both."""
        mine: PerPriority = self._of(following.context)
        self.merged(request)
        fifo = mine.fifo[request.rw]
        if following.expires < request.expires:
            fifo.remove(request)
            fifo.insert(fifo.index(following), request)
            request.expires = following.expires
        self._remove(mine, following)
        mine.queued -= 1
        return 0

    def former(self, request: Request) -> Request:
        """`elv_rb_former_request`."""
        return self._sorted(request).preceding(request)

    def latter(self, request: Request) -> Request:
        """`elv_rb_latter_request`."""
        return self._sorted(request).following(request)

    # dispatching

    def has_work(self, hardware: Any) -> cython.bint:
        """`dd_has_work`."""
        return self.waiting > 0

    def next_request(self, hardware: Any) -> MqRequest:
        """`dd_dispatch_request`."""
        mine: PerPriority
        found: MqRequest
        now: cython.longlong
        if self.waiting == 0:
            return None
        now = self.mq.jiffies()
        if sum([1 for mine in self.per_prio if mine.queued > 0]) > 1:
            for mine in self.per_prio[_BEST_EFFORT:]:
                found = self._dispatch(mine, now - self.aging, now)
                if found is not None:
                    return found
        for mine in self.per_prio:
            found = self._dispatch(mine, now, now)
            if found is not None or mine.queued > 0:
                return found
        return None

    def _dispatch(
        self, mine: PerPriority, latest_start: cython.longlong, now: cython.longlong
    ) -> MqRequest:
        """`__dd_dispatch_request`: the best one that came no later than `latest_start`."""
        rw: cython.int = self.last_dir
        requests: SortList = mine.sort_list[rw]
        request: Request = requests.from_sector(mine.latest_pos[rw])
        oldest: Request
        if request is None or self.batching >= self.fifo_batch:
            rw = self._direction(mine)
            if rw < 0:
                return None
            requests = mine.sort_list[rw]
            request = requests.from_sector(mine.latest_pos[rw])
            oldest = mine.fifo[rw][0]
            if request is None or now >= oldest.expires:
                request = oldest
            self.last_dir = rw
            self.batching = 0
        if request.expires - self.fifo_expire[rw] > latest_start:
            return None
        self.batching += 1
        self._remove(mine, request)
        mine.latest_pos[rw] = request.sector
        return request  # type: ignore[return-value]

    def _direction(self, mine: PerPriority) -> cython.int:
        """Reads unless writes have starved; -1 if there is neither."""
        if len(mine.fifo[READ]) > 0:
            if len(mine.fifo[WRITE]) == 0:
                return READ
            self.starved += 1
            if self.starved <= self.writes_starved:
                return READ
        elif len(mine.fifo[WRITE]) == 0:
            return -1
        self.starved = 0
        return WRITE

    def done(self, request: MqRequest) -> cython.int:
        """`dd_finish_request`."""
        mine: PerPriority
        if request.token:
            mine = self._of(request.context)
            mine.queued -= 1
        return 0


class MqDeadlineOneClass(MqDeadline):
    """mq-deadline before Linux 5.14: all classes are one."""

    def _of(self, context: IoContext) -> PerPriority:
        return self.per_prio[_BEST_EFFORT]
