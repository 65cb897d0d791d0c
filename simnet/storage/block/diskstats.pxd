cdef class DiskStats:
    cdef public long long jiffy_ps
    cdef public long long in_flight
    cdef public list ios
    cdef public list merges
    cdef public list sectors
    cdef public list ticks_ps
    cdef public object busy_ps
    cdef public object queue_ps
    cdef public object merged_ps
    cdef long long _stamp_ps
    cdef list _ticks
    cdef object _busy
    cdef object _queue
    cdef long long _stamp
    cpdef int round(self, long long now_ps) except -1
    cpdef int started(self, long long now_ps) except -1
    cpdef int ended(self, long long now_ps, int rw, long long sectors, long long start_ps) except -1
