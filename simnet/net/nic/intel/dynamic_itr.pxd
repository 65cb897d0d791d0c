cdef class RingContainer:
    cdef bint dynamic
    cdef readonly long long target_itr
    cdef readonly long long current_itr
    cdef long long next_update
    cdef readonly long long packets
    cdef readonly long long size

cdef class DynamicItr:
    cdef readonly RingContainer rx
    cdef readonly RingContainer tx
    cdef long long divisor
    cdef readonly int countdown
    cpdef int took(self, RingContainer rc, long long packets, long long size) except -1
    cpdef RingContainer update(self, long long jiffies)
    cdef int _judge(self, RingContainer rc, long long jiffies, bint receives) except -1
    cdef long long _target(self, RingContainer rc, bint receives) except? -1
    cdef long long _by_size(self, RingContainer rc, long long latency) except? -1
