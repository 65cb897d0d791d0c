"""What every I/O scheduler is: the operations that the block layer calls, and its sysfs tunables.

Source: include/linux/elevator.h and block/elevator.c of Linux 2.6.18.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.component import Component
from simnet.kernel.priority import CPU
from simnet.kernel.simulator import Simulator
from simnet.storage.block.request import Bio, Request
from simnet.storage.block.sort_list import MergeHash, SortList

MUST_QUEUE = True
TIMER = 5
UPTIME_S = 300
_LARGEST = (1 << 31) - 1


@dataclass(frozen=True)
class Tunable:
    """A file in `/sys/block/DEVICE/queue/iosched/`."""

    default: int  # in milliseconds for times (before rounding to jiffies), else a plain number
    time: bool = False  # kept in jiffies, shown in milliseconds
    # what is written is forced into this range, as the kernel does
    least: int = 0
    most: int = _LARGEST


def nearer(
    first: Request,
    second: Request,
    last: cython.longlong,
    back_sectors: cython.longlong,
    back_penalty: cython.longlong,
) -> Request:
    """Return which of two requests costs the heads less, as both `as_` and `cfq_choose_req` guess.

    Args:
        first: one request.
        second: the other.
        last: sector where the heads are.
        back_sectors: how far back a request may be; beyond that it is as far as any.
        back_penalty: how many times a way back counts.
    """
    ahead: cython.longlong = _distance(first, last, back_sectors, back_penalty)
    other: cython.longlong = _distance(second, last, back_sectors, back_penalty)
    if ahead < 0 and other < 0:
        return first if first.sector <= second.sector else second
    if ahead < 0 or other < 0:
        return second if ahead < 0 else first
    if ahead == other:
        return first if first.sector >= second.sector else second
    return first if ahead < other else second


def _distance(
    request: Request,
    last: cython.longlong,
    back_sectors: cython.longlong,
    back_penalty: cython.longlong,
) -> cython.longlong:
    """How far a request is; -1 if it is too far back."""
    if request.sector >= last:
        return request.sector - last
    if request.sector + back_sectors >= last:
        return (last - request.sector) * back_penalty
    return -1


@cython.cclass
class ScheduledQueue(Component):
    """What a scheduler needs of the queue whose requests it orders."""

    hz: cython.longlong = 0  # of the kernel
    jiffy_ps: cython.longlong = 0
    head: Public[list[Request]] = None  # what was dispatched and the driver has not taken
    _timers: dict[int, int] = None

    def __init__(self, sim: Simulator, path: str, hz: int) -> None:
        super().__init__(sim, path)
        self.hz = hz
        self.jiffy_ps = 10**12 // hz
        self.head = []
        self._timers = {}

    def jiffies(self) -> cython.longlong:
        """The kernel's clock; the machine has been up for five minutes at the start."""
        return self.sim.now // self.jiffy_ps + UPTIME_S * self.hz

    def set_timer(self, number: cython.int, jiffy: cython.longlong) -> cython.int:
        """Set a timer of the scheduler (`mod_timer`): it runs when the clock has this value."""
        return self.set_timer_at(number, (jiffy - UPTIME_S * self.hz) * self.jiffy_ps)

    def set_timer_at(self, number: cython.int, at_ps: cython.longlong) -> cython.int:
        """Set a timer of high resolution (`hrtimer_start`), or at once if its time is over."""
        self.delete_timer(number)
        self._timers[number] = self.sim.at(max(at_ps, self.sim.now), self, TIMER, number, CPU)
        return 0

    def delete_timer(self, number: cython.int) -> cython.bint:
        """Take a timer back (`del_timer`); False if it was not set."""
        return number in self._timers and self.sim.cancel(self._timers.pop(number))

    def schedule_work(self) -> cython.int:
        """Have kblockd run the scheduler's work."""
        raise NotImplementedError

    def dispatch_sort(self, request: Request) -> cython.int:
        """Take a request from the scheduler, in the order of sectors (`elv_dispatch_sort`)."""
        raise NotImplementedError

    def dispatch_tail(self, request: Request) -> cython.int:
        """Take a request from a scheduler that orders by itself (`elv_dispatch_add_tail`)."""
        raise NotImplementedError

    def remove_plug(self) -> cython.bint:
        """Hold nothing back any more; False if nothing was (`blk_remove_plug`)."""
        raise NotImplementedError

    def run(self) -> cython.int:
        """Let the driver take requests (`scsi_request_fn`)."""
        raise NotImplementedError


@cython.cclass
class Elevator:
    """A scheduler of one queue."""

    q: Public[ScheduledQueue] = None
    values: Public[dict[str, int]] = None  # of the tunables, times in jiffies
    hash: MergeHash = None

    name: ClassVar[str] = ""  # as in `/sys/block/DEVICE/queue/scheduler`
    tunables: ClassVar[dict[str, Tunable]] = {}  # by name, with defaults

    def __init__(self, queue: ScheduledQueue) -> None:
        self.q = queue
        self.hash = MergeHash()
        self.values = {}
        for name, tunable in self.tunables.items():
            self.values[name] = (
                # the kernel's defaults are quotients of HZ, so they round down; none is 0
                max(tunable.default * queue.hz // 1000, 1) if tunable.time else tunable.default
            )
        self.tuned()

    def show(self, name: str) -> int:
        """Read a tunable, as `cat iosched/NAME` does: times in ms.

        Raises:
            ValueError: the scheduler has no such tunable.
        """
        tunable = self._tunable(name)
        value = self.values[name]
        return value * 1000 // self.q.hz if tunable.time else value

    def store(self, name: str, value: int) -> None:
        """Write a tunable, as `echo VALUE > iosched/NAME` does: times in ms, rounded up to jiffies.

        Raises:
            ValueError: the scheduler has no such tunable.
        """
        tunable = self._tunable(name)
        value = min(max(value, tunable.least), tunable.most)
        self.values[name] = -(-value * self.q.hz // 1000) if tunable.time else value
        self.tuned()

    def _tunable(self, name: str) -> Tunable:
        if name not in self.tunables:
            names = ", ".join(self.tunables) or "none"
            raise ValueError(f"{self.q.path}: {self.name} has no tunable {name!r}; it has {names}")
        return self.tunables[name]

    def tuned(self) -> None:
        """A tunable was set; take the values over."""

    # what the block layer calls

    def merge(self, bio: Bio) -> Request:
        """Find a request that a bio can become the end or the begin of (`elevator_merge_fn`)."""
        request: Request = self.hash.find(bio.sector)
        if request is not None and self.may_merge(request, bio):
            return request
        behind: SortList = self.behind(bio)
        if behind is not None:
            request = behind.find(bio.sector + bio.sectors)
            if request is not None and self.may_merge(request, bio):
                return request
        return None

    def behind(self, bio: Bio) -> SortList:
        """Return the requests of which one may begin where a bio ends; None: it is not asked."""
        return None

    def may_merge(self, request: Request, bio: Bio) -> cython.bint:
        """Whether a request may grow by a bio (`elv_rq_merge_ok`, `elevator_allow_merge_fn`)."""
        return request.takes(bio)

    def merged(self, request: Request) -> cython.int:
        """A request has grown by a bio (`elevator_merged_fn`)."""
        self.hash.remove(request)
        self.hash.add(request)
        if request.sector != request.key:
            self.resort(request)
        return 0

    def resort(self, request: Request) -> cython.int:
        """A request begins at another sector: move it among those sorted."""
        return 0

    def merged_requests(self, request: Request, following: Request) -> cython.int:
        """A request has swallowed the following one (`elevator_merge_req_fn`)."""
        return 0

    def dispatch(self, force: cython.bint = False) -> cython.longlong:  # noqa: FBT002 - cpdef
        """Move requests to the dispatch queue, all if forced; return how many."""
        raise NotImplementedError

    def add(self, request: Request) -> cython.int:
        """Take a request (`elevator_add_req_fn`)."""
        raise NotImplementedError

    def empty(self) -> cython.bint:
        """Whether no request is held back (`elevator_queue_empty_fn`)."""
        raise NotImplementedError

    def activate(self, request: Request) -> cython.int:
        """The driver sees a request for the first time (`elevator_activate_req_fn`)."""
        return 0

    def deactivate(self, request: Request) -> cython.int:
        """The driver has given a request back (`elevator_deactivate_req_fn`)."""
        return 0

    def completed(self, request: Request) -> cython.int:
        """A request is complete (`elevator_completed_req_fn`)."""
        return 0

    def former(self, request: Request) -> Request:
        """Return the request before this one by sector (`elevator_former_req_fn`), or None."""
        return None

    def latter(self, request: Request) -> Request:
        """Return the request after this one by sector (`elevator_latter_req_fn`), or None."""
        return None

    def may_queue(self, bio: Bio) -> cython.bint:
        """Whether a bio's process must get a request, however full (`elevator_may_queue_fn`)."""
        return not MUST_QUEUE

    def allocated(self, request: Request) -> cython.int:
        """A request has been allocated (`elevator_set_req_fn`)."""
        return 0

    def freed(self, request: Request) -> cython.int:
        """A request is being freed (`elevator_put_req_fn`)."""
        return 0

    def timer(self, number: cython.int) -> cython.int:
        """A timer of this scheduler has expired."""
        return 0

    def work(self) -> cython.int:
        """What was scheduled for kblockd: run the queue."""
        return self.q.run()

    def process_exits(self, data: Any) -> None:
        """A process ends of which the scheduler remembers `data`."""

    def shut(self) -> None:
        """Another scheduler takes over (`elevator_exit_fn`); nothing is held back any more."""
