from simnet.kernel.component cimport Component
from simnet.kernel.priority cimport CPU

cpdef long long keep_timer(
    Component target, int kind, long long event, long long at, long long jiffy, long long jiffy_ps
) except? -1

cdef class JiffyTimer:
    cdef long long event
    cdef readonly long long at
    cdef Component target
    cdef int kind
    cdef long long jiffy_ps

    cpdef int set(self, long long jiffy) except -1
    cpdef bint runs_before(self, long long time_ps) except? -1
    cpdef int ran(self) except -1
