cdef class IdleStates:
    cdef readonly long long enter_ps
    cdef readonly long long shallow_exit_ps
    cdef readonly long long deep_exit_ps
    cdef long long deep_residency_us
    cdef long long[::1] intervals
    cdef int next
    cdef bint deep
    cdef long long since_ps
    cdef readonly long long entries
    cdef readonly long long deep_entries
    cdef readonly long long awake_ps
    cdef int entered(self, long long now) except -1
    cdef long long left_ps(self, long long now) except? -1
    cpdef long long typical_us(self) except? -1
