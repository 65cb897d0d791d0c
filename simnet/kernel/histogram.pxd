cimport cython

from simnet.kernel.queue cimport highest_bit


cdef enum:
    FINE_BITS = 7
    FINE = 1 << FINE_BITS
    BUCKETS = (63 - FINE_BITS + 1) * FINE


@cython.final
cdef class LogHistogram:
    cdef readonly long long count
    cdef readonly long long largest
    cdef long long[::1] _counts

    cpdef int add(self, long long value) except -1
