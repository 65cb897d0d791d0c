from simnet.kernel.sentinel cimport NEVER
from simnet.net.fluid.flow cimport Flow, FlowLink

cdef class Rates:
    cdef long long[::1] shares
    cdef signed char[::1] saturated
    cdef bint paused

cdef class FlowGroup:
    cdef readonly list flows
    cdef readonly list links
    cdef public bint dirty
    cdef readonly long long paused
    cdef long long active
    cdef dict known
    cdef int switch(self, Flow flow) except -1
    cdef int share(self, long long now, bint pause, long long xoff) except -1
    cdef Rates _rates(self, bint pause, long long xoff)
    cdef Rates _computed(self, bint pause, long long xoff)
    cdef int _fill(self) except -1
    cdef int _freeze(self, long long level) except? -1
    cdef bint _hold_back(self, long long xoff_bytes) except? -1
