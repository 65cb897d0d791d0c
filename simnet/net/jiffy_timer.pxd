from simnet.kernel.component cimport Component
from simnet.kernel.simulator cimport Simulator

cdef class JiffyTimer:
    cdef long long event
    cdef readonly long long at
    cdef Simulator sim
    cdef Component target
    cdef int kind
    cdef long long jiffy_ps

    cpdef int set(self, long long jiffy) except -1
    cpdef int ran(self) except -1
