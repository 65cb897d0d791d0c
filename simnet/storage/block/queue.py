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

from collections.abc import Callable
from typing import Any

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.histogram import LogHistogram
from simnet.kernel.priority import CPU
from simnet.kernel.simulator import Simulator
from simnet.storage.block.limit import WAKE, RequestLimit, Resume
from simnet.storage.block.request import READ, WRITE, Bio, Request
from simnet.storage.block.switch import Switching
from simnet.storage.disk.command import Command, Target

_UNPLUG_TIMER, _UNPLUG_WORK, _ELEVATOR_WORK, _SWITCH = 0, 1, 2, 4
_DEFAULT_MAX_SECTORS = 1024
_MAX_SEGMENTS = 128  # MAX_PHYS_SEGMENTS


@cython.cclass
class RequestQueue(RequestLimit):
    """The queue of one device.

    Args:
        target: disk, partition or adapter that takes the commands.
        scheduler: one of `ELEVATORS`.
        hz: of the kernel.
        nr_requests: of each direction.
        max_hw_sectors: that the driver can put into a request; `max_sectors_kb` starts with it, at
            most with 512.
        depth: commands that the driver keeps in the device.

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

    target: Public[Any] = None
    max_hw_sectors: Public[cython.longlong] = 0
    depth: Public[cython.longlong] = 0
    read_ahead_kb: Public[cython.longlong] = 0
    run_starved: Public[Callable[[], None] | None] = None
    times: Public[LogHistogram | None] = None
    unplug_threshold: Public[cython.longlong] = 0
    unplug_jiffies: Public[cython.longlong] = 0
    end_sector: Public[cython.longlong] = 0
    boundary: Public[Request] = None
    plugged: Public[cython.bint] = False
    busy: Public[cython.longlong] = 0
    in_driver: Public[cython.longlong] = 0
    _unplug_event: cython.longlong = 0
    _unplugging: cython.bint = False
    _working: cython.bint = False

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
        depth: int = 1,
    ) -> None:
        super().__init__(sim, path, hz, nr_requests)
        self.target = target
        self.max_hw_sectors = max_hw_sectors
        self.max_sectors = min(max_hw_sectors, _DEFAULT_MAX_SECTORS)
        self.max_segments = _MAX_SEGMENTS
        self.depth = depth
        self.read_ahead_kb = 128
        self.unplug_threshold = 4
        self.unplug_jiffies = max(3 * hz // 1000, 1)
        self.switching = Switching(self, scheduler)
        self.elevator = self.switching.make(scheduler)

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
            if not self._unplugging:
                self._unplugging = True
                self.sim.after(0, self, _UNPLUG_WORK, 0, CPU)
        elif kind == _UNPLUG_WORK:
            self._unplugging = False
            self.unplug()
        elif kind == _ELEVATOR_WORK:
            self._working = False
            self.elevator.work()
        elif kind == WAKE:
            self.wakes(*self.woken.popleft())
        elif kind == _SWITCH:
            self.switching.step()
        else:
            del self._timers[arg]
            self.elevator.timer(arg)

    # submission

    def submit(self, bio: Bio, resume: Resume | None = None) -> cython.bint:
        """Take a bio (`__make_request`).

        Returns:
            False if its process sleeps because no request is free; `resume(bio)` is called when
            the bio has been taken, and the process may go on then.

        Raises:
            ValueError: the bio is larger than a request may be, or beyond the device.
        """
        if not 0 < bio.sectors <= self.max_sectors or bio.segments > _MAX_SEGMENTS:
            limits = f"{self.max_sectors} sectors in {_MAX_SEGMENTS} segments"
            raise ValueError(f"{self.path}: {bio!r} does not fit into a request of {limits}")
        if bio.sector < 0 or bio.sector + bio.sectors > self.target.sectors:
            raise ValueError(f"{self.path}: {bio!r} is beyond its {self.target.sectors} sectors")
        if not self.empty() and self.merge(bio):
            if bio.sync:
                self.unplug()
            return True
        request: Request = self.get_request(bio)
        if request is None:
            self.sleep(bio, resume)
            return False
        self.insert(request)
        return True

    def insert(self, request: Request) -> cython.int:
        """Give a request to the scheduler (`add_request`, `__elv_add_request`)."""
        if self.empty():
            self.plug()
        self.stats.started(self.sim.now)
        if request.elvpriv:
            request.sorted = True
            if self.last_merge is None and request.mergeable():
                self.last_merge = request
            self.elevator.add(request)
        else:
            # the scheduler is being changed: to the end of what it has dispatched
            request.no_merge = request.barrier = True
            self.drain()
            self.head.append(request)
            self.remove_plug()
            self.run()
        waiting: cython.longlong = self.count[READ] + self.count[WRITE] - self.in_driver
        if request.sync or (self.plugged and waiting >= self.unplug_threshold):
            self.unplug()
        return 0

    # plugging and kblockd

    def plug(self) -> cython.int:
        """Hold requests back (`blk_plug_device`)."""
        at_ps: cython.longlong
        if not self.plugged:
            self.plugged = True
            at_ps = (self.sim.now // self.jiffy_ps + self.unplug_jiffies) * self.jiffy_ps
            self._unplug_event = self.sim.at(at_ps, self, _UNPLUG_TIMER, 0, CPU)
        return 0

    def remove_plug(self) -> cython.bint:
        """Hold nothing back any more; False if nothing was (`blk_remove_plug`)."""
        if not self.plugged:
            return False
        self.plugged = False
        if self._unplug_event:
            self.sim.cancel(self._unplug_event)
            self._unplug_event = 0
        return True

    def unplug(self) -> cython.int:
        """Let the driver have what is held back, as who waits for it does."""
        if self.remove_plug():
            self.run()
        return 0

    def schedule_work(self) -> cython.int:
        """Have kblockd run the scheduler's work, if that is not under way."""
        if not self._working:
            self._working = True
            self.sim.after(0, self, _ELEVATOR_WORK, 0, CPU)
        return 0

    def continue_switch(self, jiffies: int) -> None:
        """Go on with the change of the scheduler that many jiffies later."""
        at_ps = (self.sim.now // self.jiffy_ps + jiffies) * self.jiffy_ps
        self.sim.at(at_ps, self, _SWITCH, 0, CPU)

    # dispatching

    def empty(self) -> cython.bint:
        """`elv_queue_empty`."""
        return len(self.head) == 0 and self.elevator.empty()

    def dispatch_sort(self, request: Request) -> cython.int:
        """Take a request from the scheduler, in the order of sectors (`elv_dispatch_sort`).

        The order is one-way, from the end of what the driver took last.
        """
        other: Request
        boundary: cython.longlong = self.end_sector
        position: cython.Py_ssize_t = len(self.head)
        if self.last_merge is request:
            self.last_merge = None
        while position > 0:
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
        return 0

    def dispatch_tail(self, request: Request) -> cython.int:
        """Take a request from a scheduler that orders by itself (`elv_dispatch_add_tail`)."""
        if self.last_merge is request:
            self.last_merge = None
        self.end_sector = request.end()
        self.boundary = request
        self.head.append(request)
        return 0

    def drain(self) -> None:
        """Make the scheduler dispatch all that it has (`elv_drain_elevator`)."""
        while self.elevator.dispatch(True):
            pass

    def _next(self) -> Request:
        """The request at the head, which is the driver's from now on (`elv_next_request`)."""
        request: Request
        while len(self.head) == 0:
            if self.elevator.dispatch(False) == 0:
                return None
        request = self.head[0]
        if not request.started:
            if request.sorted:
                self.elevator.activate(request)
            request.started = True
        if self.boundary is None or self.boundary is request:
            self.end_sector = request.end()
            self.boundary = None
        return request

    def run(self) -> cython.int:
        """Let the driver take requests while the device takes commands (`scsi_request_fn`).

        As in the kernel, the driver holds one more than the device takes.
        """
        request: Request
        while not self.plugged:
            request = self._next()
            if request is None or self.busy >= self.depth:
                break
            del self.head[0]
            self.in_driver += 1
            self.busy += 1
            command = Command(
                request.sector, request.sectors, write=request.write, owner=self, tag=request
            )
            if not self.target.submit(command):
                self._requeue(request)
                break
        return 0

    def _requeue(self, request: Request) -> cython.int:
        """The adapter has no room: back to the head (`blk_requeue_request`)."""
        self.in_driver -= 1
        self.busy -= 1
        if request.sorted:
            self.elevator.deactivate(request)
        request.started = False
        request.no_merge = request.barrier = True
        self.head.insert(0, request)
        if self.busy == 0:
            self.plug()
        return 0

    def command_done(self, command: Command) -> None:
        """A request is complete: account, free, go on, then call the submitters of its bios."""
        bio: Bio
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
