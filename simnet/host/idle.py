"""Idle states of a CPU: what it takes to leave them, and which one the kernel chooses.

Source: drivers/cpuidle/governors/menu.c of Linux 6.12 (`menu_select`, `get_typical_interval`),
simplified: the idle time to come is the typical one of the last eight; where none is typical, their
mean stands for the time to the next timer, which the governor corrects by what it was worth before.
The deepest state is entered whose target residency is not above that. The state that polls is not
used: menu prefers the first state that halts. A CPU on its way into idle has interrupts off: one
that comes then waits until it is there, and finds nothing to leave.
"""

from __future__ import annotations

from array import array

import cython

from simnet.kernel.compiled import Array

_INTERVALS: cython.int = 8
_MOST_US: cython.longlong = 1 << 30
# variance, in us^2, below which intervals count as equal
_EVEN_US: cython.longlong = 400


@cython.final
@cython.cclass
class IdleStates:
    """Of one CPU.

    Args:
        enter_ps: from having nothing to do to halting.
        shallow_exit_ps: from an interrupt to its handler, in the state that is entered soonest.
        deep_exit_ps: likewise in the deeper one; 0 if there is none.
        deep_residency_ps: how long it has to last to be worth while.
    """

    enter_ps: cython.longlong = 0
    shallow_exit_ps: cython.longlong = 0
    deep_exit_ps: cython.longlong = 0
    deep_residency_us: cython.longlong = 0
    intervals: Array[cython.longlong] = None
    next: cython.int = 0
    deep: cython.bint = False
    since_ps: cython.longlong = 0
    entries: cython.longlong = 0  # how often the CPU became idle
    deep_entries: cython.longlong = 0  # how often it went into the deeper state
    awake_ps: cython.longlong = 0  # time that it executed on the way into idle

    def __init__(
        self,
        enter_ps: int,
        shallow_exit_ps: int,
        deep_exit_ps: int,
        deep_residency_ps: int,
    ) -> None:
        self.enter_ps = enter_ps
        self.shallow_exit_ps = shallow_exit_ps
        self.deep_exit_ps = deep_exit_ps
        self.deep_residency_us = deep_residency_ps // 10**6
        self.intervals = array("q", [0]) * _INTERVALS

    @cython.cfunc
    def entered(self, now: cython.longlong) -> cython.int:
        """The CPU has nothing to do: choose a state."""
        self.since_ps = now
        self.entries += 1
        self.deep = False
        if self.deep_exit_ps > 0:
            self.deep = self.typical_us() >= self.deep_residency_us
            self.deep_entries += self.deep
        return 0

    @cython.cfunc
    def left_ps(self, now: cython.longlong) -> cython.longlong:
        """An interrupt has come: return the time until its handler begins."""
        halts: cython.longlong = self.since_ps + self.enter_ps
        self.intervals[self.next] = (now - self.since_ps) // 1_000_000
        self.next = (self.next + 1) % _INTERVALS
        if now < halts:
            self.awake_ps += halts - self.since_ps
            return halts - now
        self.awake_ps += self.enter_ps
        return self.deep_exit_ps if self.deep else self.shallow_exit_ps

    def typical_us(self) -> cython.longlong:
        """`get_typical_interval`: the mean of the last eight, or of the shorter ones, if even.

        The mean of all if they are not.
        """
        most: cython.longlong = _MOST_US
        largest: cython.longlong
        total: cython.longlong
        mean: cython.longlong
        of_all: cython.longlong = -1
        variance: cython.longlong
        count: cython.int
        at: cython.int
        while True:
            largest = total = variance = 0
            count = 0
            for at in range(_INTERVALS):
                if self.intervals[at] <= most:
                    count += 1
                    total += self.intervals[at]
                    largest = max(largest, self.intervals[at])
            mean = total // count
            if of_all < 0:
                of_all = mean
            for at in range(_INTERVALS):
                if self.intervals[at] <= most:
                    variance += (self.intervals[at] - mean) * (self.intervals[at] - mean)
            variance //= count
            if (count * 4 > _INTERVALS * 3 and mean * mean > variance * 36) or variance <= _EVEN_US:
                return mean
            if count * 4 <= _INTERVALS * 3:
                return of_all
            most = largest - 1
