"""The request queue of a block device: merging, plugging, and a limit on requests.

Source: block/ll_rw_blk.c (`__make_request`, `get_request`, plugging), block/elevator.c and
drivers/scsi/scsi_lib.c (`scsi_request_fn`) of Linux 2.6.18. A bio is merged into a request or gets
one of its own, of which each direction has `nr_requests`; a process that finds none sleeps, and one
that was woken may take a batch of 32. An empty queue is plugged until four requests wait, 3 ms have
passed or a process waits for them. What the scheduler dispatches goes to the driver, which keeps
`depth` commands in the device.

The code that a process would run while it sleeps is a callback: `submit` says whether the bio was
taken at once, and calls `resume` when it is taken later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import cython

from simnet.kernel.histogram import LogHistogram
from simnet.kernel.priority import CPU
from simnet.kernel.simulator import Simulator
from simnet.storage.block.limit import WAKE, RequestLimit, Resume
from simnet.storage.block.request import READ, WRITE, Bio, Request
from simnet.storage.block.switch import ELEVATORS, Switching
from simnet.storage.disk.command import Command, Target

__all__ = ["ELEVATORS", "RequestQueue"]

_UNPLUG_TIMER, _UNPLUG_WORK, _ELEVATOR_WORK, _SWITCH, _ELEVATOR_TIMER = 0, 1, 2, 4, 5
_UPTIME_S = 300
_DEFAULT_MAX_SECTORS = 1024


class RequestQueue(RequestLimit):
    """The queue of one device.

    Args:
        sim: the simulation.
        path: component path.
        target: disk, partition or adapter that takes the commands.
        scheduler: one of `ELEVATORS`.
        hz: of the kernel.
        nr_requests: of each direction.
        max_hw_sectors: that the driver can put into a request; `max_sectors_kb` starts with it, at
            most with 512.
        max_segments: pieces of memory in a request.
        depth: commands that the driver keeps in the device.
        wakeup_ps: from waking a process that sleeps for a request until it runs.
        kblockd_ps: from scheduling kblockd's work until it runs.

    Attributes:
        stats: counters of the device.
        congested: by direction, as the page cache sees it.
        plugged: whether requests are held back.
        count: allocated requests by direction.
        waits: how often a process slept for a request.
        times: takes the time of each request from insertion to completion, if set.
        run_starved: of an adapter with several devices: lets those go on, first, that it had no
            room for (`scsi_run_queue`).
    """

    def __init__(
        self,
        sim: Simulator,
        path: str,
        target: Target,
        *,
        scheduler: str = "anticipatory",
        hz: int = 250,
        nr_requests: int = 128,
        max_hw_sectors: int = _DEFAULT_MAX_SECTORS,
        max_segments: int = 128,
        depth: int = 1,
        wakeup_ps: int = 0,
        kblockd_ps: int = 0,
    ) -> None:
        super().__init__(sim, path, hz, nr_requests, wakeup_ps)
        self.target = target
        self.max_hw_sectors = max_hw_sectors
        self.max_sectors = min(max_hw_sectors, _DEFAULT_MAX_SECTORS)
        self.max_segments = max_segments
        self.depth = depth
        self.kblockd_ps = kblockd_ps
        self.read_ahead_kb = 128
        self.run_starved: Callable[[], None] | None = None
        self.times: LogHistogram | None = None
        self.unplug_threshold = 4
        self.unplug_jiffies = max(3 * hz // 1000, 1)
        self.head: deque[Request] = deque()
        self.end_sector = 0
        self.boundary: Request | None = None
        self.plugged = False
        self.busy = self.in_driver = 0
        self._unplug_event = 0
        self._working = {_UNPLUG_WORK: False, _ELEVATOR_WORK: False}
        self._timers: dict[int, int] = {}
        self.switching = Switching(self, scheduler)
        self.elevator = self.switching.make(scheduler)

    @property
    def jiffies(self) -> int:
        """The kernel's clock; the machine has been up for five minutes at the start."""
        return self.sim.now // self.jiffy_ps + _UPTIME_S * self.hz

    def counters(self) -> dict[str, int]:
        """Requests by direction, merged bios, and how often a process slept for a request."""
        reads, writes = self.stats.ios
        merges = sum(self.stats.merges)
        return {"reads": reads, "writes": writes, "merges": merges, "waits": self.waits}

    def waiting_for(self) -> str | None:
        """Completions, if any command is in the device."""
        return "the device" if self.busy else None

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A timer of the queue or of its scheduler, kblockd, or a process that woke."""
        if kind == _UNPLUG_TIMER:
            self._unplug_event = 0
            self.schedule_work(_UNPLUG_WORK)
        elif kind == _UNPLUG_WORK:
            self._working[kind] = False
            self.unplug()
        elif kind == _ELEVATOR_WORK:
            self._working[kind] = False
            self.elevator.work()
        elif kind == WAKE:
            self.wakes(*self.woken.popleft())
        elif kind == _SWITCH:
            self.switching.step()
        else:
            self._timers.pop(arg)
            self.elevator.timer(arg)

    # submission

    def submit(self, bio: Bio, resume: Resume | None = None) -> bool:
        """Take a bio (`__make_request`).

        Returns:
            False if its process sleeps because no request is free; `resume(bio)` is called when
            the bio has been taken, and the process may go on then.

        Raises:
            ValueError: the bio is larger than a request may be, or beyond the device.
        """
        if not 0 < bio.sectors <= self.max_sectors or bio.segments > self.max_segments:
            limits = f"{self.max_sectors} sectors in {self.max_segments} segments"
            raise ValueError(f"{self.path}: {bio!r} does not fit into a request of {limits}")
        if bio.sector < 0 or bio.sector + bio.sectors > self.target.sectors:
            raise ValueError(f"{self.path}: {bio!r} is beyond its {self.target.sectors} sectors")
        if not self.empty() and self.merge(bio):
            if bio.sync:
                self.unplug()
            return True
        request = self.get_request(bio)
        if request is None:
            self.sleep(bio, resume)
            return False
        self.insert(request)
        return True

    def insert(self, request: Request) -> None:
        """Give a request to the scheduler (`add_request`, `__elv_add_request`)."""
        if self.empty():
            self.plug()
        self.stats.started(self.sim.now)
        if request.elvpriv:
            request.sorted = True
            if self.last_merge is None and request.mergeable:
                self.last_merge = request
            self.elevator.add(request)
        else:
            # the scheduler is being changed: to the end of what it has dispatched
            request.no_merge = request.barrier = True
            self.drain()
            self.head.append(request)
            self.remove_plug()
            self.run()
        waiting = self.count[READ] + self.count[WRITE] - self.in_driver
        if request.sync or (self.plugged and waiting >= self.unplug_threshold):
            self.unplug()

    # plugging and kblockd

    def plug(self) -> None:
        """Hold requests back (`blk_plug_device`)."""
        if not self.plugged:
            self.plugged = True
            at_ps = (self.sim.now // self.jiffy_ps + self.unplug_jiffies) * self.jiffy_ps
            self._unplug_event = self.sim.at(at_ps, self, _UNPLUG_TIMER, 0, CPU)

    def remove_plug(self) -> bool:
        """Hold nothing back any more; False if nothing was (`blk_remove_plug`)."""
        if not self.plugged:
            return False
        self.plugged = False
        if self._unplug_event:
            self.sim.cancel(self._unplug_event)
            self._unplug_event = 0
        return True

    def unplug(self) -> None:
        """Let the driver have what is held back, as who waits for it does."""
        if self.remove_plug():
            self.run()

    def schedule_work(self, kind: int = _ELEVATOR_WORK) -> None:
        """Have kblockd run the scheduler's work, if that is not under way."""
        if not self._working[kind]:
            self._working[kind] = True
            self.sim.after(self.kblockd_ps, self, kind, 0, CPU)

    def set_timer(self, number: int, jiffy: int) -> None:
        """Set a timer of the scheduler (`mod_timer`): it runs when `jiffies` has this value."""
        self.delete_timer(number)
        at_ps = max((jiffy - _UPTIME_S * self.hz) * self.jiffy_ps, self.sim.now)
        self._timers[number] = self.sim.at(at_ps, self, _ELEVATOR_TIMER, number, CPU)

    def continue_switch(self, jiffies: int) -> None:
        """Go on with the change of the scheduler that many jiffies later."""
        at_ps = (self.sim.now // self.jiffy_ps + jiffies) * self.jiffy_ps
        self.sim.at(at_ps, self, _SWITCH, 0, CPU)

    def delete_timer(self, number: int) -> bool:
        """Take a timer back (`del_timer`); False if it was not set."""
        return number in self._timers and self.sim.cancel(self._timers.pop(number))

    # dispatching

    def empty(self) -> bool:
        """`elv_queue_empty`."""
        return not self.head and self.elevator.empty()

    def dispatch_sort(self, request: Request) -> None:
        """Take a request from the scheduler, in the order of sectors (`elv_dispatch_sort`).

        The order is one-way, from the end of what the driver took last.
        """
        if self.last_merge is request:
            self.last_merge = None
        boundary = self.end_sector
        position = len(self.head)
        while position:
            other = self.head[position - 1]
            if other.started or other.barrier:
                break
            if request.sector >= boundary:
                if other.sector < boundary:
                    position -= 1
                    continue
            elif other.sector >= boundary:
                break
            if request.sector >= other.sector:
                break
            position -= 1
        self.head.insert(position, request)

    def dispatch_tail(self, request: Request) -> None:
        """Take a request from a scheduler that orders by itself (`elv_dispatch_add_tail`)."""
        if self.last_merge is request:
            self.last_merge = None
        self.end_sector = request.end
        self.boundary = request
        self.head.append(request)

    def drain(self) -> None:
        """Make the scheduler dispatch all that it has (`elv_drain_elevator`)."""
        while self.elevator.dispatch(force=True):
            pass

    def _next(self) -> Request | None:
        """The request at the head, which is the driver's from now on (`elv_next_request`)."""
        while not self.head:
            if not self.elevator.dispatch():
                return None
        request = self.head[0]
        if not request.started:
            if request.sorted:
                self.elevator.activate(request)
            request.started = True
        if self.boundary is None or self.boundary is request:
            self.end_sector = request.end
            self.boundary = None
        return request

    def run(self) -> None:
        """Let the driver take requests while the device takes commands (`scsi_request_fn`).

        As in the kernel, the driver holds one more than the device takes.
        """
        while not self.plugged:
            request = self._next()
            if request is None or self.busy >= self.depth:
                return
            self.head.popleft()
            self.in_driver += 1
            self.busy += 1
            command = Command(
                request.sector, request.sectors, write=request.write, owner=self, tag=request
            )
            if not self.target.submit(command):
                self._requeue(request)
                return

    def _requeue(self, request: Request) -> None:
        """The adapter has no room: back to the head (`blk_requeue_request`)."""
        self.in_driver -= 1
        self.busy -= 1
        if request.sorted:
            self.elevator.deactivate(request)
        request.started = False
        request.no_merge = request.barrier = True
        self.head.appendleft(request)
        if self.busy == 0:
            self.plug()

    def command_done(self, command: Command) -> None:
        """A request is complete: account, free, go on, then call the submitters of its bios."""
        request: Request = command.tag
        self.busy -= 1
        self.stats.ended(self.sim.now, request.rw, request.sectors, request.start_ps)
        if self.times is not None:
            self.times.add(self.sim.now - request.start_ps)
        self.in_driver -= 1
        if request.sorted:
            self.elevator.completed(request)
        self.free(request)
        self.remove_plug()
        if self.run_starved is not None:
            self.run_starved()
        if not self.empty():
            self.run()
        for bio in request.bios:
            if bio.done is not None:
                bio.done(bio)
