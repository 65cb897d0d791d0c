"""Threads on the hardware threads of a server, each piece of work on the one that is free first.

Work is booked when it is known, in order, so when it ends is arithmetic and needs no event.
"""

from array import array

import cython

from simnet.kernel.compiled import Array


@cython.final
@cython.cclass
class CpuPool:
    """Hardware threads."""

    cpus: cython.int = 0  # how many
    free_ps: Array[cython.longlong] = None
    busy_ps: cython.longlong = 0  # of all of them together

    def __init__(self, cpus: int) -> None:
        self.cpus = cpus
        self.free_ps = array("q", [0] * cpus)

    def book(self, now: cython.longlong, work_ps: cython.longlong) -> cython.longlong:
        """Do work as soon as a hardware thread is free; return when it is done."""
        best: cython.int = 0
        cpu: cython.int
        for cpu in range(self.cpus):
            if self.free_ps[cpu] <= now:
                best = cpu
                break
            if self.free_ps[cpu] < self.free_ps[best]:
                best = cpu
        start_ps: cython.longlong = self.free_ps[best]
        if start_ps < now:
            start_ps = now
        self.free_ps[best] = start_ps + work_ps
        self.busy_ps += work_ps
        return start_ps + work_ps
