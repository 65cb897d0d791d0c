cdef class CacheWays:
    cdef long long share_bytes
    cdef readonly long long miss_ps
    cdef public long long waiting
    cdef long long[::1] lost
    cpdef long long lost_permille(self) except? -1
