"""Anticipation: whether a read of another place waits for the next one of the same process.

Source: the `as_antic_*`, `as_can_*` and `as_close_req` functions of block/as-iosched.c, Linux
2.6.18. The state is off, or waits for the read that is under way, or for the next one with a timer,
or has finished without a request dispatched since.
"""

from typing import Any

import cython

from simnet.kernel.compiled import Public
from simnet.storage.block.elevator import Elevator, ScheduledQueue
from simnet.storage.block.process_history import ProcessHistory, smoothed
from simnet.storage.block.request import Request

OFF, WAIT_REQUEST, WAIT_NEXT, FINISHED = range(4)
ANTIC_TIMER = 0
_CLOSE_SECTORS = 8192
_CLOSE_MS = 20


@cython.cclass
class Anticipation(Elevator):
    """The part of the anticipatory scheduler that waits.

    Attributes:
        status: one of the states.
        process: whose next read may be waited for; None after a write.
        process_finished: whether its last read is complete, since `antic_start`.
        last_sector: sector after the last dispatched request, by asynchronous and synchronous.
        batch_kind: which of the two is being served.
        exit_prob, exit_no_coop: probabilities (256 is 1) that a process ends while it is waited
            for, and that none comes near it then.
        new_ttime_mean, new_seek_mean: what new processes do.
    """

    last_sector: Public[list[Any]] = None
    batch_kind: Public[cython.int] = 0
    status: Public[cython.int] = 0
    antic_start: Public[cython.longlong] = 0
    antic_expire: Public[cython.longlong] = 0
    process: Public[ProcessHistory | None] = None
    process_finished: Public[cython.bint] = False
    exit_prob: Public[cython.longlong] = 0
    exit_no_coop: Public[cython.longlong] = 0
    new_ttime_total: Public[cython.longlong] = 0
    new_ttime_mean: Public[cython.longlong] = 0
    new_seek_total: Public[cython.longlong] = 0
    new_seek_mean: Public[cython.longlong] = 0

    def __init__(self, queue: ScheduledQueue) -> None:
        self.last_sector = [0, 0]
        self.status = OFF
        super().__init__(queue)

    def _history(self, request: Request) -> ProcessHistory:
        history: ProcessHistory = request.queue
        return history

    @cython.cfunc
    def waiting(self) -> cython.bint:
        """Whether a read is waited for."""
        return self.status == WAIT_REQUEST or self.status == WAIT_NEXT  # noqa: PLR1714 (compiled)

    def _wait_next(self) -> cython.int:
        """`as_antic_waitnext`."""
        self.status = WAIT_NEXT
        return self.q.set_timer(ANTIC_TIMER, self.antic_start + self.antic_expire)

    @cython.ccall
    def _wait_request(self) -> cython.int:
        """`as_antic_waitreq`: the time starts when the read that is under way is complete."""
        if self.status == OFF:
            if self.process is None or self.process_finished:
                self._wait_next()
            else:
                self.status = WAIT_REQUEST
        return 0

    def _stop(self) -> cython.int:
        """`as_antic_stop`."""
        if self.waiting():
            if self.status == WAIT_NEXT:
                self.q.delete_timer(ANTIC_TIMER)
            self.status = FINISHED
            self.q.schedule_work()
        return 0

    def timer(self, number: cython.int) -> cython.int:
        """`as_antic_timeout`: nothing came."""
        if self.waiting():
            process = self.process
            self.status = FINISHED
            self.q.schedule_work()
            if process is not None:
                if process.ttime_samples == 0:
                    self.exit_prob = (7 * self.exit_prob + 256) // 8
                if not process.running:
                    self.exit_no_coop = (7 * self.exit_no_coop + 256) // 8
        return 0

    def work(self) -> cython.int:
        """`as_work_handler`."""
        return 0 if self.empty() else self.q.run()

    @cython.ccall
    def _update_history(self, process: ProcessHistory, request: Request) -> cython.int:
        """`as_update_iohist`: a synchronous request updates think time and seek distance."""
        if not request.is_sync:
            return 0
        new = process.ttime_samples == 0
        learned = process.observe(request, self.q.jiffies(), self.q.hz)
        if learned is not None and new:
            ttime, distance = learned
            self.new_ttime_total = smoothed(self.new_ttime_total, ttime)
            self.new_ttime_mean = self.new_ttime_total // 256
            self.exit_prob = 7 * self.exit_prob // 8
            self.new_seek_total = smoothed(self.new_seek_total, distance)
            self.new_seek_mean = self.new_seek_total // 256
        return 0

    @cython.ccall
    def _close(self, process: ProcessHistory, request: Request) -> cython.bint:
        """`as_close_req`: near enough to what was read last, for the time already waited."""
        delay_ms: cython.longlong
        last: cython.longlong = self.last_sector[self.batch_kind]
        if self.status == OFF or not self.process_finished:
            delay_ms = 0
        else:
            delay_ms = (self.q.jiffies() - self.antic_start) * 1000 // self.q.hz
        if delay_ms and (delay_ms > _CLOSE_MS or delay_ms > self.antic_expire):
            # the kernel compares milliseconds with jiffies here
            return True
        delta: cython.longlong = _CLOSE_SECTORS << delay_ms
        if last <= request.sector + delta // 2 and request.sector <= last + delta:
            return True
        mean: cython.longlong = (
            self.new_seek_mean if process.seek_samples == 0 else process.seek_mean
        )
        distance: cython.longlong = request.sector - last
        return mean > abs(distance)

    @cython.ccall
    def _can_break(self, request: Request | None) -> cython.bint:
        """`as_can_break_anticipation`."""
        process: ProcessHistory = self.process
        if process is None:
            return True
        if request is not None and process is self._history(request):
            return True
        if self.process_finished and self.q.jiffies() - self.antic_start >= self.antic_expire:
            return True
        if process.nr_queued or process.nr_dispatched:
            return True
        if request is not None and request.is_sync and self._close(process, request):
            if not process.running:
                if process.ttime_samples == 0:
                    self.exit_prob = (7 * self.exit_prob + 256) // 8
                self.exit_no_coop = 7 * self.exit_no_coop // 8
            self._update_history(process, request)
            return True
        return self._unlikely_to_return(process)

    def _unlikely_to_return(self, process: ProcessHistory) -> cython.bint:
        """Whether a process is not worth waiting for: it has ended, or thinks too long."""
        if not process.running:
            if process.ttime_samples == 0:
                self.exit_prob = (7 * self.exit_prob + 256) // 8
            if self.exit_no_coop > 128:  # noqa: PLR2004 - half of 256
                return True
        if process.ttime_samples == 0:
            return (
                self.new_ttime_mean > self.antic_expire
                or self.exit_prob * self.exit_no_coop > 128 * 256
            )
        return process.ttime_mean > self.antic_expire

    @cython.ccall
    def _can_anticipate(self, request: Request | None) -> cython.bint:
        """`as_can_anticipate`."""
        if self.process is None or self.status == FINISHED:
            return False
        return not self._can_break(request)

    def process_exits(self, data: ProcessHistory) -> None:
        """`exit_as_io_context`."""
        data.running = False
