from simnet.host.cpu cimport Cpu
from simnet.host.scheduler cimport Scheduler, Task

cdef class WakePlacement:
    cdef Scheduler scheduler
    cdef bint smt_first
    cdef bint scans_by_use
    cdef bint smt
    cdef dict caches
    cdef long long[::1] scans
    cdef long long[::1] looked
    cdef long long[::1] used
    cpdef Cpu place(self, Task task, Cpu waker)
    cdef bint _may(self, Task task, Cpu cpu) except -1
    cdef Cpu _affine(self, Task task, Cpu waker, Cpu previous)
    cdef Cpu _idle_sibling(self, Task task, Cpu previous, Cpu target)
    cdef Cpu _idle_cpu(self, Task task, Cpu previous, Cpu target)
    cdef bint _has_idle_core(self, list cpus) except -1
    cdef long long _scan(self, int cache, list cpus) except? -1
