cdef class SackScore:
    cdef readonly int reordering
    cdef public int held
    cdef readonly long long highest
    cdef long long marker
    cdef readonly int undo_retrans
    cdef readonly long long prior_ssthresh
    cdef readonly long long raised
    cdef public long long undone
    cpdef int tag(self, long long snd_una, long long mss, long long ack, int held, long long highest, long long recent, bint dsack) except -1
    cpdef long long fackets_out(self, long long snd_una, long long mss) except? -1
    cpdef int update_reordering(self, long long metric) except -1
    cpdef int entered(self, long long snd_una, long long ssthresh, long long cwnd) except -1
    cpdef int retransmitted(self) except -1
    cpdef bint may_undo(self) except? -1
    cpdef int forget(self) except -1
    cpdef int reset(self) except -1
