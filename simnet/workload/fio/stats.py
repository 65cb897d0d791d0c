"""Options, costs and counters of fio's jobs.

Source: `io_u_mark_depth`, `io_u_mark_map` in io_u.c and options.c of fio 3.36.
"""

import math
from dataclasses import dataclass
from typing import Any

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.histogram import LogHistogram

_NUMBERS: cython.int = 7
_LONGEST: cython.longlong = 0x7FFFFFFFFFFFFFFF


@dataclass(frozen=True)
class FioRules:
    """The options of a job, by fio's names."""

    ioengine: int  # 0 sync, 1 libaio, 2 io_uring
    hipri: bool  # io_uring polls
    pages: int  # of a unit that are pinned for it; 0 with fixedbufs
    iodepth: int
    iodepth_batch: int
    iodepth_batch_complete_min: int
    iodepth_batch_complete_max: int
    iodepth_low: int
    bs_sectors: int  # of each unit
    # whether places are random, and whether there are reads and writes
    random: bool
    reads: bool
    writes: bool
    rwmixread: int  # percent of reads where there are reads and writes


@dataclass(frozen=True)
class FioCosts:
    """Work at full speed, in ps."""

    unit_ps: int  # of fio itself for each unit, in user mode
    syscall_ps: int  # entering and leaving the kernel
    engine_ps: int  # of the kernel's AIO, io_uring or VFS code for each unit that is submitted
    reap_ps: int  # for each event that is handed over
    ring_ps: int  # a look at a ring of io_uring, by a process or by the kernel's thread


@cython.cclass
class Latency:
    """Latencies of one kind: histogram in ps, sum, and sum of the squares in ns.

    Attributes:
        times, sum_ps, squares: of all.
        least_ps, largest_ps: since the last mark; the least is above the largest without any.
    """

    times: LogHistogram = None
    sum_ps: cython.longlong = 0
    squares: cython.double = 0.0
    least_ps: cython.longlong = 0
    largest_ps: cython.longlong = 0
    _marks: tuple[Any, ...] = None

    def __init__(self) -> None:
        self.times = LogHistogram()
        self.least_ps = _LONGEST
        self.largest_ps = -1
        self._marks = ()

    def add(self, time_ps: cython.longlong) -> cython.int:
        """Count one."""
        nanoseconds: cython.double = time_ps / 1000.0
        self.times.add(time_ps)
        self.sum_ps += time_ps
        self.squares += nanoseconds * nanoseconds
        self.least_ps = min(self.least_ps, time_ps)
        self.largest_ps = max(self.largest_ps, time_ps)
        return 0

    def mark(self) -> tuple[tuple[int, int], ...]:
        """Set a mark; return the least and the largest, in ps, up to each mark from the one before.

        Between two marks the extremes are those of the entries that only the later one returns.
        """
        self._marks = (*self._marks, (self.least_ps, self.largest_ps))
        self.least_ps = _LONGEST
        self.largest_ps = -1
        return self._marks


@cython.cclass
class FioStats:
    """What the jobs of one group have done; lists are of reads and writes."""

    # completed
    ios: list[Any] = None
    sectors: list[Any] = None
    # latencies
    slat: tuple[Any, ...] = None
    clat: tuple[Any, ...] = None
    lat: tuple[Any, ...] = None
    # units by how many were in flight when they were submitted: 1, 2, 4, .. 64 or more
    depths: list[Any] = None
    # calls by how many units they submitted or returned: 0, up to 4, 8, .. 64, or more
    submits: list[Any] = None
    completes: list[Any] = None
    # of the jobs' processes
    user_ps: Public[cython.longlong] = 0
    system_ps: Public[cython.longlong] = 0
    switches: Public[cython.longlong] = 0  # how often they slept

    def __init__(self) -> None:
        self.ios = [0, 0]
        self.sectors = [0, 0]
        self.slat = (Latency(), Latency())
        self.clat = (Latency(), Latency())
        self.lat = (Latency(), Latency())
        self.depths = [0] * _NUMBERS
        self.submits = [0] * _NUMBERS
        self.completes = [0] * _NUMBERS


def add_latency(latencies: Any, write: cython.bint, time_ps: cython.longlong) -> cython.int:
    """Count a latency of reads or of writes."""
    latency: Latency = latencies[write]
    latency.add(time_ps)
    return 0


def depth_number(depth: cython.longlong) -> cython.int:
    """`io_u_mark_depth`: 1, 2, 4, .. 64 or more."""
    number: cython.int = 0
    while depth > 1 and number < _NUMBERS - 1:
        depth >>= 1
        number += 1
    return number


def call_number(count: cython.longlong) -> cython.int:
    """`io_u_mark_map`: 0, up to 4, 8, .. 64, more."""
    number: cython.int = 0
    most: cython.longlong = 4
    if count == 0:
        return 0
    number = 1
    while count > most and number < _NUMBERS - 1:
        most *= 2
        number += 1
    return number


def deviation(count: int, sum_ps: int, squares: float) -> float:
    """Return the standard deviation of `count` latencies, in ns."""
    if count < 2:  # noqa: PLR2004 - one value has none
        return 0.0
    mean = sum_ps / 1000 / count
    return math.sqrt(max(squares - count * mean * mean, 0.0) / (count - 1))
