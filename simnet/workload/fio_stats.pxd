from simnet.kernel.histogram cimport LogHistogram

cdef class Latency:
    cdef readonly LogHistogram times
    cdef readonly long long sum_ps
    cdef readonly double squares
    cpdef int add(self, long long time_ps) except -1

cdef class FioStats:
    cdef readonly list ios
    cdef readonly list sectors
    cdef readonly tuple slat
    cdef readonly tuple clat
    cdef readonly tuple lat
    cdef readonly list depths
    cdef readonly list submits
    cdef readonly list completes
    cdef public long long user_ps
    cdef public long long system_ps
    cdef public long long switches

cpdef int add_latency(latencies, bint write, long long time_ps) except -1
cpdef int depth_number(long long depth) except -1
cpdef int call_number(long long count) except -1
