cdef class Congestion:
    cdef readonly long long cwnd
    cdef readonly long long ssthresh
    cdef long long cwnd_count
    cdef readonly long long clamp
    cpdef int acked(self) except -1
    cpdef int loss(self, long long flight) except -1
    cpdef int timeout(self, long long flight) except -1
    cpdef int set_cwnd(self, long long cwnd) except -1
    cpdef long long undo_cwnd(self) except? -1
    cpdef int undo(self, long long prior_ssthresh, long long flight) except -1
    cpdef long long reduced(self) except? -1
    cpdef long long acks_for_increase(self) except? -1

cdef class Bic(Congestion):
    cdef long long last_cwnd
    cdef long long last_max_cwnd
