from simnet.net.tcp.rules.sender_version cimport SenderRules

cdef class Congestion:
    cdef readonly long long cwnd
    cdef readonly long long ssthresh
    cdef readonly long long cwnd_count
    cdef readonly long long bytes_acked
    cdef readonly long long clamp
    cdef long long mss
    cdef readonly int abc
    cdef readonly bint wants_us
    cdef bint counts_slow_start
    cdef bint counts_segments
    cdef bint slow_start_below

    cdef int start(
        self, long long initial_cwnd, long long mss, int abc, long long hz, SenderRules rules
    ) except -1
    cpdef int set_window(self, long long cwnd) except -1
    cpdef int limit_window(self, long long cwnd) except -1
    cpdef int step_down(self, long long flight) except -1
    cpdef int set_threshold(self, long long ssthresh) except -1
    cpdef int lower_threshold(self) except -1
    cpdef int restart_count(self) except -1
    cpdef int count_bytes(self, long long count) except -1
    cpdef int resize(self, long long mss) except -1
    cpdef int segments_acked(
        self, long long count, long long rtt_us, long long now_jiffy, long long now_us,
        bint open_state
    ) except -1
    cpdef int avoid(
        self, long long ack, long long snd_nxt, long long now_jiffy, long long acked
    ) except -1
    cpdef bint in_slow_start(self) except? -1
    cdef long long _slow_start(self, long long acked) except? -1
    cdef int _slow_start_by_acks(self) except -1
    cdef int _additive(self, long long count, long long acked) except -1
    cpdef long long reduced(self) except? -1
    cpdef long long least(self) except? -1
    cpdef int forget(self) except -1
    cpdef long long undo_cwnd(self) except? -1

cdef class Bic(Congestion):
    cdef readonly long long count
    cdef long long last_cwnd
    cdef long long last_jiffy
    cdef readonly long long last_max_cwnd
    cdef long long loss_cwnd
    cdef readonly long long ack_ratio
    cdef long long refresh
    cdef bint counts_delayed
    cdef int _update(self, long long now_jiffy) except -1
