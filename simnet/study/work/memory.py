"""Whether what is being built will fit into memory, from what its first parts have taken.

A process that takes more than there is would be killed, or would take others down with it.
"""

import resource
import time
from pathlib import Path
from typing import Final

from simnet.errors import InputError
from simnet.study.run.duration_text import duration_text

_STATM: Final = Path("/proc/self/statm")
_MEMINFO: Final = Path("/proc/meminfo")
_CGROUP: Final = Path("/sys/fs/cgroup")
# less says nothing about the rest
_TELLING_BYTES: Final = 32 << 20
_GB: Final = 1e9


class EnoughMemory:
    """Watches building, and ends it with InputError when the rest has no room."""

    def __init__(self) -> None:
        self._start_s = 0.0
        self._before = 0
        self._told = 0

    def built(self, what: str, done: int, total: int) -> None:
        """Compare what the rest will take with what is there."""
        taken = _resident_bytes()
        if done == 0:
            self._start_s, self._before, self._told = time.perf_counter(), taken, 0
            return
        grown = taken - self._before
        if grown < self._told + _TELLING_BYTES:
            return
        self._told = grown
        left = available_bytes()
        if left is None or grown * (total - done) / done <= left:
            return
        needed, free = grown * total / done / _GB, (grown + left) / _GB
        duration = duration_text((time.perf_counter() - self._start_s) * total / done)
        message = (
            f"{total:,} of them need about {needed:.1f} GB of memory, of which {free:.1f} GB are"
            f" free, and {duration} to build"
        )
        raise InputError(message, key=what)

    def simulated(self, now_ps: int) -> None:
        """Nothing: what is built stays."""


def available_bytes() -> int | None:
    """Memory that this process can still get without swapping; None if not known."""
    known = [_free(), _below_cgroup(), _below_limit()]
    return min((number for number in known if number is not None), default=None)


def _free() -> int | None:
    try:
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
    return found[0] if found else None


def _below_cgroup() -> int | None:
    try:
        most, now = (
            (_CGROUP / name).read_text(encoding="ascii")
            for name in ("memory.max", "memory.current")
        )
        return int(most) - int(now)
    except (OSError, ValueError):  # no such group, or no limit: "max"
        return None


def _below_limit() -> int | None:
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if most == resource.RLIM_INFINITY else most - _pages(0)


def _resident_bytes() -> int:
    return _pages(1)


def _pages(column: int) -> int:
    """The size of this process in bytes: 0 all of its addresses, 1 what lies in memory."""
    try:
        pages = int(_STATM.read_text(encoding="ascii").split()[column])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return pages * resource.getpagesize()
