"""What a scheduler learns of a process' synchronous requests: think times and seek distances.

Source: `struct as_io_context`, `as_update_thinktime` and `as_update_seekdist` of
block/as-iosched.c, which block/cfq-iosched.c of Linux 2.6.18 has for itself. Means decay by an
eighth a sample and are fixed-point numbers: 256 is one sample.
"""

import cython

from simnet.kernel.compiled import Public
from simnet.storage.block.request import Request

_FEW_SAMPLES = 60
_MAX_THINK_PER_S = 50


def smoothed(total: cython.longlong, value: cython.longlong) -> cython.longlong:
    """A decaying total of fixed-point samples."""
    return (7 * total + 256 * value) // 8


@cython.cclass
class ThinkHistory:
    """Think times, in jiffies.

    Attributes:
        ttime_samples, ttime_total, ttime_mean: decaying number, sum and mean.
        last_end_request: jiffy at which a request of the process was complete last.
    """

    ttime_samples: Public[cython.longlong] = 0
    ttime_total: Public[cython.longlong] = 0
    ttime_mean: Public[cython.longlong] = 0
    last_end_request: Public[cython.longlong] = 0

    def __init__(self, jiffy: int = 0) -> None:
        self.last_end_request = jiffy

    def add_think_time(self, ttime: cython.longlong) -> cython.int:
        """Add a think time."""
        self.ttime_samples = (7 * self.ttime_samples + 256) // 8
        self.ttime_total = smoothed(self.ttime_total, ttime)
        self.ttime_mean = (self.ttime_total + 128) // self.ttime_samples
        return 0


@cython.cclass
class SeekHistory(ThinkHistory):
    """Think times, and the distances from request to request in sectors."""

    # decaying number, sum and mean
    seek_samples: Public[cython.longlong] = 0
    seek_total: Public[cython.longlong] = 0
    seek_mean: Public[cython.longlong] = 0
    last_request_pos: Public[cython.longlong] = 0  # sector after the last request

    def __init__(self, jiffy: int = 0) -> None:
        super().__init__(jiffy)

    def add_seek(self, distance: cython.longlong) -> cython.int:
        """Add a distance; a single long one is cut, more so when many are known."""
        few: cython.bint = self.seek_samples <= _FEW_SAMPLES
        slack: cython.longlong = 2 * 1024 * 1024 if few else 2 * 1024 * 64
        distance = min(distance, self.seek_mean * 4 + slack)
        self.seek_samples = (7 * self.seek_samples + 256) // 8
        self.seek_total = smoothed(self.seek_total, distance)
        self.seek_mean = (self.seek_total + self.seek_samples // 2) // self.seek_samples
        return 0


@cython.cclass
class ProcessHistory(SeekHistory):
    """The anticipatory scheduler's knowledge of a process."""

    running: Public[cython.bint] = False  # whether it exists
    # whether a request of it has been queued, and completed
    io_started: Public[cython.bint] = False
    io_running: Public[cython.bint] = False
    # requests in the scheduler, and between it and the driver
    nr_queued: Public[cython.longlong] = 0
    nr_dispatched: Public[cython.longlong] = 0

    def __init__(self, *, running: bool = True) -> None:
        super().__init__()
        self.running = running

    def observe(self, request: Request, jiffies: int, hz: int) -> tuple[int, int] | None:
        """Learn from a synchronous request; return think time and distance, None for the first."""
        learned = None
        if self.io_started or self.io_running:
            ttime = 0
            if self.io_running and not self.nr_queued and not self.nr_dispatched:
                ttime = min(jiffies - self.last_end_request, hz // _MAX_THINK_PER_S - 1)
            self.add_think_time(ttime)
            distance: cython.longlong = request.sector - self.last_request_pos
            distance = abs(distance)
            self.add_seek(distance)
            learned = ttime, distance
        self.last_request_pos = request.end()
        self.io_started = True
        return learned
