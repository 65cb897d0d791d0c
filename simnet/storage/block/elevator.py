"""What every I/O scheduler is: the operations that the block layer calls, and its sysfs tunables.

Source: include/linux/elevator.h and block/elevator.c of Linux 2.6.18.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from simnet.storage.block.request import Bio, Request

__all__ = [
    "BACK_MERGE",
    "FRONT_MERGE",
    "MUST_QUEUE",
    "NO_MERGE",
    "Elevator",
    "ScheduledQueue",
    "Tunable",
    "nearer",
]

NO_MERGE, BACK_MERGE, FRONT_MERGE = range(3)
MUST_QUEUE = True
_LARGEST = (1 << 31) - 1


@dataclass(frozen=True)
class Tunable:
    """A file in `/sys/block/DEVICE/queue/iosched/`.

    Attributes:
        default: in milliseconds for times (before rounding to jiffies), else a plain number.
        time: kept in jiffies, shown in milliseconds.
        least, most: what is written is forced into this range, as the kernel does.
    """

    default: int
    time: bool = False
    least: int = 0
    most: int = _LARGEST


def nearer(
    first: Request, second: Request, last: int, back_sectors: int, back_penalty: int
) -> Request:
    """Return which of two requests costs the heads less, as both `as_` and `cfq_choose_req` guess.

    Args:
        first: one request.
        second: the other.
        last: sector where the heads are.
        back_sectors: how far back a request may be; beyond that it is as far as any.
        back_penalty: how many times a way back counts.
    """
    distances = []
    for request in (first, second):
        if request.sector >= last:
            distances.append(request.sector - last)
        elif request.sector + back_sectors >= last:
            distances.append((last - request.sector) * back_penalty)
        else:
            distances.append(-1)
    ahead, other = distances
    if ahead < 0 and other < 0:
        return first if first.sector <= second.sector else second
    if ahead < 0 or other < 0:
        return second if ahead < 0 else first
    if ahead == other:
        return first if first.sector >= second.sector else second
    return first if ahead < other else second


class ScheduledQueue(Protocol):
    """What a scheduler needs of the queue whose requests it orders."""

    path: str
    hz: int
    head: deque[Request]

    @property
    def jiffies(self) -> int:
        """The kernel's clock."""

    def set_timer(self, number: int, jiffy: int) -> None:
        """Set a timer of the scheduler (`mod_timer`)."""

    def delete_timer(self, number: int) -> bool:
        """Take a timer back (`del_timer`); False if it was not set."""

    def schedule_work(self) -> None:
        """Have kblockd run the scheduler's work."""

    def dispatch_sort(self, request: Request) -> None:
        """Take a request from the scheduler, in the order of sectors (`elv_dispatch_sort`)."""

    def dispatch_tail(self, request: Request) -> None:
        """Take a request from a scheduler that orders by itself (`elv_dispatch_add_tail`)."""

    def remove_plug(self) -> bool:
        """Hold nothing back any more; False if nothing was (`blk_remove_plug`)."""

    def run(self) -> None:
        """Let the driver take requests (`scsi_request_fn`)."""


class Elevator:
    """A scheduler of one queue.

    Attributes:
        name: as in `/sys/block/DEVICE/queue/scheduler`.
        tunables: by name, with defaults.
        values: of the tunables, times in jiffies.
    """

    name: ClassVar[str] = ""
    tunables: ClassVar[dict[str, Tunable]] = {}

    def __init__(self, queue: ScheduledQueue) -> None:
        self.q = queue
        self.values: dict[str, int] = {}
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

    def merge(self, bio: Bio) -> tuple[int, Any]:
        """Find a request that a bio can become part of, and where (`elevator_merge_fn`)."""
        return NO_MERGE, None

    def merged(self, request: Request) -> None:
        """A request has grown by a bio (`elevator_merged_fn`)."""

    def merged_requests(self, request: Request, following: Request) -> None:
        """A request has swallowed the following one (`elevator_merge_req_fn`)."""

    def dispatch(self, *, force: bool = False) -> int:
        """Move requests to the dispatch queue, all if forced; return how many."""
        raise NotImplementedError

    def add(self, request: Request) -> None:
        """Take a request (`elevator_add_req_fn`)."""
        raise NotImplementedError

    def empty(self) -> bool:
        """Whether no request is held back (`elevator_queue_empty_fn`)."""
        raise NotImplementedError

    def activate(self, request: Request) -> None:
        """The driver sees a request for the first time (`elevator_activate_req_fn`)."""

    def deactivate(self, request: Request) -> None:
        """The driver has given a request back (`elevator_deactivate_req_fn`)."""

    def completed(self, request: Request) -> None:
        """A request is complete (`elevator_completed_req_fn`)."""

    def former(self, request: Request) -> Request | None:
        """Return the request before this one by sector (`elevator_former_req_fn`)."""
        return None

    def latter(self, request: Request) -> Request | None:
        """Return the request after this one by sector (`elevator_latter_req_fn`)."""
        return None

    def may_queue(self, bio: Bio) -> bool:
        """Whether a bio's process must get a request, however full (`elevator_may_queue_fn`)."""
        return not MUST_QUEUE

    def allocated(self, request: Request) -> None:
        """A request has been allocated (`elevator_set_req_fn`)."""

    def freed(self, request: Request) -> None:
        """A request is being freed (`elevator_put_req_fn`)."""

    def timer(self, number: int) -> None:
        """A timer of this scheduler has expired."""

    def work(self) -> None:
        """What was scheduled for kblockd: run the queue."""
        self.q.run()

    def process_exits(self, data: Any) -> None:
        """A process ends of which the scheduler remembers `data`."""

    def shut(self) -> None:
        """Another scheduler takes over (`elevator_exit_fn`); nothing is held back any more."""

    @staticmethod
    def may_merge(request: Request, bio: Bio) -> bool:
        """`elv_rq_merge_ok`."""
        return request.mergeable and request.write == bio.write
