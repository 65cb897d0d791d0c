"""Bios, requests and the I/O context of a process, as Linux 2.6.18 has them.

Source: include/linux/bio.h, include/linux/blkdev.h. Times are jiffies where the kernel's are; a
request has its time in ps beside that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cython

from simnet.kernel.compiled import Public

READ = 0
WRITE = 1
PAGE_SECTORS = 8


@cython.cclass
class IoContext:
    """What the block layer remembers of a process."""

    name: Public[str] = None  # of the process
    ioprio_class: Public[str] = None  # "none", "rt", "be" or "idle", as `ionice -c` sets it
    ioprio: Public[cython.longlong] = 0  # 0 to 7 within "rt" and "be", as `ionice -n` sets it
    running: Public[cython.bint] = False  # whether the process exists; see `exit`
    # whether it may take requests from a full queue
    nr_batch_requests: Public[cython.longlong] = 0
    last_waited: Public[cython.longlong] = 0
    elevator_data: Public[dict[Any, Any]] = None  # what schedulers remember of it, by scheduler

    def __init__(self, name: str = "", *, ioprio_class: str = "none", ioprio: int = 4) -> None:
        if ioprio_class not in {"none", "rt", "be", "idle"}:
            raise ValueError(f"{name}: ioprio_class {ioprio_class!r} is not none, rt, be or idle")
        if not 0 <= ioprio < 8:  # noqa: PLR2004 - IOPRIO_BE_NR
            raise ValueError(f"{name}: ioprio {ioprio} is not from 0 to 7")
        self.name = name
        self.ioprio_class = ioprio_class
        self.ioprio = ioprio
        self.running = True
        self.elevator_data = {}

    @property
    def priority(self) -> tuple[str, int]:
        """Class and level; without a class the middle one (`task_nice_ioprio` at nice 0)."""
        if self.ioprio_class == "none":
            return "be", 4
        return self.ioprio_class, 7 if self.ioprio_class == "idle" else self.ioprio

    def exit(self) -> None:
        """The process ends: schedulers stop waiting for it."""
        self.running = False
        for elevator, data in list(self.elevator_data.items()):
            elevator.process_exits(data)

    def __repr__(self) -> str:
        """Show the name."""
        return f"<IoContext {self.name}>"


@cython.cclass
class Bio:
    """A piece of I/O as a process submits it."""

    # where on the queue's device, how many of 512 bytes
    sector: Public[cython.longlong] = 0
    sectors: Public[cython.longlong] = 0
    write: Public[cython.bint] = False  # False for a read
    context: Public[IoContext] = None  # of the process that submits it
    # called with the bio when it is complete; None if nothing waits for it
    done: Public[Any] = None
    # a process waits for it: the queue is unplugged at once (BIO_RW_SYNC)
    sync: Public[cython.bint] = False
    segments: Public[cython.longlong] = 0  # pieces of memory, a page each
    tag: Public[Any] = None

    def __init__(
        self,
        sector: int,
        sectors: int,
        *,
        write: bool,
        context: IoContext,
        done: Callable[[Bio], None] | None = None,
        sync: bool = False,
        tag: Any = None,
    ) -> None:
        self.sector = sector
        self.sectors = sectors
        self.write = write
        self.context = context
        self.done = done
        self.sync = sync
        self.segments = -(-sectors // PAGE_SECTORS)
        self.tag = tag

    def __repr__(self) -> str:
        """Show kind and range."""
        return f"<{'write' if self.write else 'read'} bio {self.sector}+{self.sectors}>"


@cython.cclass
class Request:
    """One or more bios for neighbouring sectors."""

    # where, how many
    sector: Public[cython.longlong] = 0
    sectors: Public[cython.longlong] = 0
    write: Public[cython.bint] = False  # `rw` as a flag
    rw: Public[cython.int] = 0  # READ or WRITE
    sync: Public[cython.bint] = False  # the first bio was
    bios: Public[list[Any]] = None  # in the order of their sectors
    segments: Public[cython.longlong] = 0  # pieces of memory
    # when it was allocated, or the earlier of two that were merged
    start_jiffy: Public[cython.longlong] = 0
    start_ps: Public[cython.longlong] = 0
    started: Public[cython.bint] = False  # the driver has seen it
    no_merge: Public[cython.bint] = False  # it is as large as it can be
    barrier: Public[cython.bint] = False  # nothing is sorted past it
    context: Public[IoContext] = None  # of the process that submitted the first bio
    elvpriv: Public[cython.bint] = False  # the scheduler keeps data of it
    sorted: Public[cython.bint] = False  # it came through the scheduler
    # the scheduler's
    expires: Public[cython.longlong] = 0
    key: Public[cython.longlong] = 0
    is_sync: Public[cython.bint] = False
    queue: Public[Any] = None

    def __init__(self, bio: Bio, jiffy: int, now_ps: int) -> None:
        self.sector = bio.sector
        self.sectors = bio.sectors
        self.write = bio.write
        self.rw = WRITE if bio.write else READ
        self.sync = bio.sync
        self.bios = [bio]
        self.segments = bio.segments
        self.start_jiffy = jiffy
        self.start_ps = now_ps
        self.context = bio.context
        self.elvpriv = True
        self.key = bio.sector
        self.is_sync = not bio.write

    def end(self) -> cython.longlong:
        """The sector after the last."""
        return self.sector + self.sectors

    def mergeable(self) -> cython.bint:
        """`rq_mergeable`."""
        return not (self.no_merge or self.started)

    def takes(self, bio: Bio) -> cython.bint:
        """Whether it may grow by a bio (`elv_rq_merge_ok`)."""
        return self.mergeable() and self.write == bio.write

    def __repr__(self) -> str:
        """Show kind and range."""
        return f"<{'write' if self.write else 'read'} request {self.sector}+{self.sectors}>"
