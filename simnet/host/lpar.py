"""The processors of a logical partition with dedicated cores, for work that comes in long bursts.

Threads that run share the cores evenly (processor sharing): with n threads busy, cores get one each
before any gets a second, as AIX dispatches primary threads first, and a core with k busy threads
does as much as its SMT throughput for k says. A burst is work in ps on a core of its own; that it
shares a core makes it longer. No packet and no interrupt is simulated here: what they cost is a
burst of the daemon's for each block.

AIX accounts by the PURR: of a core with one thread busy of several only a part counts as used,
since the others could do more beside it. `utilisation` is what `vmstat` and `lparstat` print.

Source: IBM, "Understanding Processor Utilization on Power Systems - AIX" (2012) for the PURR and
the order of dispatch.
"""

# mypy: no-strict-optional
from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cython

from simnet.kernel.compiled import Array
from simnet.kernel.component import Component
from simnet.kernel.priority import CPU
from simnet.kernel.simulator import Simulator

_PERMILLE: cython.longlong = 1000
# rounding of the clock that all bursts share: a burst this near its end is over
_NEAR_PS: cython.longlong = 1000


@dataclass(frozen=True)
class LparCores:
    """A partition's cores."""

    cores: int  # dedicated to it
    threads: int  # of a core, as `smtctl` set it
    # of a core with 1, 2, ... busy threads, relative to one alone
    throughput_permille: tuple[int, ...]
    purr_permille: tuple[int, ...]  # of a core that counts as used with 1, 2, ... busy threads

    @property
    def hardware_threads(self) -> int:
        """Logical processors."""
        return self.cores * self.threads

    def of_all(self, per_core: Sequence[int], busy: int) -> int:
        """Return the sum over the cores, `busy` threads being spread evenly."""
        busy = min(busy, self.hardware_threads)
        each, more = divmod(busy, self.cores)
        levels = (0, *per_core)
        total = (self.cores - more) * levels[each]
        return total + more * levels[each + 1] if more else total


@cython.final
@cython.freelist(256)
@cython.cclass
class Burst:
    """Work that one thread does."""

    owner: Component = None  # gets an event of `kind` when it is done; may be None
    kind: cython.int = 0
    work_ps: cython.longlong = 0  # on a core of its own
    system_ps: cython.longlong = 0  # of that, in the kernel or the daemon
    used_ps: cython.longlong = 0  # time on a hardware thread, once it is done
    # when it is done, by the clock that all share; equals in order
    end_ps: cython.longlong = 0
    order: cython.longlong = 0
    next: Burst = None  # the one that ends with it

    @cython.cfunc
    @cython.exceptval(check=False)
    def before(self, other: Burst) -> cython.bint:
        """Whether it is done before another one."""
        if self.end_ps != other.end_ps:
            return self.end_ps < other.end_ps
        return self.order < other.order


@cython.final
@cython.cclass
class LparCpu(Component):
    """Processor sharing among the bursts of a partition.

    Args:
        sim: the simulation.
        path: component path.
        cores: what there is.
    """

    cores: Any = None  # what there is
    busy: cython.longlong = 0  # bursts that run
    hardware: cython.longlong = 0
    # work that is done, and of that the kernel's and the daemon's
    done_ps: cython.longlong = 0
    system_done_ps: cython.longlong = 0
    _clock_ps: cython.longlong = 0
    _threads_ps: cython.longlong = 0
    _last_ps: cython.longlong = 0
    _order: cython.longlong = 0
    _timer: cython.longlong = 0
    _queue: list[Any] = None
    _speeds: Array[cython.longlong] = None
    _by_busy_ps: Array[cython.longlong] = None

    def __init__(self, sim: Simulator, path: str, cores: LparCores) -> None:
        super().__init__(sim, path)
        self.cores = cores
        self.hardware = cores.hardware_threads
        self._queue = []
        levels = range(self.hardware + 1)
        self._speeds = array("q", [cores.of_all(cores.throughput_permille, n) for n in levels])
        self._by_busy_ps = array("q", [0 for _ in levels])

    def run(
        self,
        owner: Component,
        kind: cython.int,
        work_ps: cython.longlong,
        system_ps: cython.longlong,
    ) -> cython.int:
        """Do work, in ps, `system_ps` of it in the kernel.

        When it is done `owner.on_event(kind, used)` is called with the time on a thread, in ps.
        """
        burst: Burst = Burst.__new__(Burst)
        burst.owner = owner
        burst.kind = kind
        return self._add(burst, max(work_ps, 1), system_ps)

    def background(self, work_ps: cython.longlong) -> cython.int:
        """Do the daemon's work, beside everything else."""
        burst: Burst = Burst.__new__(Burst)
        burst.owner = None
        if work_ps > 0:
            self._add(burst, work_ps, work_ps)
        return 0

    def _add(
        self, burst: Burst, work_ps: cython.longlong, system_ps: cython.longlong
    ) -> cython.int:
        self._advance()
        self._order += 1
        burst.work_ps = work_ps
        burst.system_ps = system_ps
        burst.used_ps = self._threads_ps
        burst.end_ps = self._clock_ps + work_ps
        burst.order = self._order
        burst.next = None
        self._push(burst)
        self.busy += 1
        self._aim()
        return 0

    def _push(self, burst: Burst) -> cython.int:
        """Put a burst into the heap."""
        at: cython.Py_ssize_t = len(self._queue)
        above: cython.Py_ssize_t
        other: Burst
        self._queue.append(burst)
        while at > 0:
            above = (at - 1) // 2
            other = self._queue[above]
            if not burst.before(other):
                break
            self._queue[at] = other
            at = above
        self._queue[at] = burst
        return 0

    def _pop(self) -> Burst:
        """Take the first burst from the heap."""
        first: Burst = self._queue[0]
        last: Burst = self._queue.pop()
        count: cython.Py_ssize_t = len(self._queue)
        at: cython.Py_ssize_t = 0
        below: cython.Py_ssize_t = 1
        other: Burst
        right: Burst
        while below < count:
            other = self._queue[below]
            if below + 1 < count:
                right = self._queue[below + 1]
                if right.before(other):
                    other = right
                    below += 1
            if last.before(other):
                break
            self._queue[at] = other
            at = below
            below = 2 * at + 1
        if count > 0:
            self._queue[at] = last
        return first

    def _speed(self) -> cython.longlong:
        """Of all threads together, in permille of one core."""
        return self._speeds[min(self.busy, self.hardware)]

    def _advance(self) -> cython.int:
        """Bring the clocks up to now: work that each burst gets, and time on a thread."""
        passed_ps: cython.longlong = self.sim.now - self._last_ps
        threads: cython.longlong = min(self.busy, self.hardware)
        if passed_ps > 0:
            self._by_busy_ps[threads] += passed_ps
            if self.busy > 0:
                self._clock_ps += passed_ps * self._speed() // (_PERMILLE * self.busy)
                self._threads_ps += passed_ps * threads // self.busy
            self._last_ps = self.sim.now
        return 0

    def _aim(self) -> cython.int:
        """Set the timer to the moment when the first burst is done."""
        left_ps: cython.longlong
        end_ps: cython.longlong
        speed: cython.longlong
        burst: Burst
        if self._timer:
            self.sim.cancel(self._timer)
            self._timer = 0
        if self.busy:
            burst = self._queue[0]
            end_ps = burst.end_ps
            left_ps = max(end_ps - self._clock_ps, 0)
            speed = self._speed()
            left_ps = (left_ps * _PERMILLE * self.busy + speed - 1) // speed
            self._timer = self.sim.after(left_ps, self, 0, 0, CPU)
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The first burst is done, and those that end with it."""
        burst: Burst
        first: Burst = None
        last: Burst = None
        self._timer = 0
        self._advance()
        while self.busy > 0:
            burst = self._queue[0]
            if burst.end_ps > self._clock_ps + _NEAR_PS:
                break
            burst = self._pop()
            self.busy -= 1
            burst.used_ps = self._threads_ps - burst.used_ps
            self.done_ps += burst.work_ps
            self.system_done_ps += burst.system_ps
            if first is None:
                first = burst
            else:
                last.next = burst
            last = burst
        self._aim()
        while first is not None:
            if first.owner is not None:
                first.owner.on_event(first.kind, first.used_ps)
            first = first.next

    # -- accounting ---------------------------------------------------------------------------

    def busy_ps(self) -> list[int]:
        """Return the busy time of each logical processor, in the order of dispatch."""
        passed = self._by_busy_now()
        busy, total = [], 0
        for threads in range(self.hardware, 0, -1):
            total += passed[threads]
            busy.append(total)
        return busy[::-1]

    def purr_ps(self) -> int:
        """Return the core time that counts as used, of all cores together."""
        cores = self.cores
        used: list[int] = [
            passed * cores.of_all(cores.purr_permille, threads)
            for threads, passed in enumerate(self._by_busy_now())
        ]
        return sum(used) // 1000

    def _by_busy_now(self) -> list[int]:
        """Time with so many threads busy, until now.

        The clocks are left alone: they round, and reading them would move the ends of bursts.
        """
        found: list[int] = list(self._by_busy_ps)
        found[min(self.busy, self.hardware)] += self.sim.now - self._last_ps
        return found

    def counters(self) -> dict[str, int]:
        """Work that is done."""
        return {"done_ps": self.done_ps, "system_done_ps": self.system_done_ps}
