from simnet.net.tcp.rules.sender_version cimport SenderRules

cdef class SendSequence:
    cdef readonly long long snd_una
    cdef readonly long long snd_nxt
    cdef readonly long long write_seq
    cdef readonly long long snd_wnd
    cdef readonly bint no_space
    cdef readonly long long mss
    cdef readonly long long pushed_seq
    cdef readonly long long max_window
    cdef readonly long long sndbuf
    cdef long long overhead_bytes
    cdef long long wmem_max
    cdef long long path_mss
    cdef long long whole_window_bytes
    cdef long long least_mss
    cdef bint half_window

    cdef int init(
        self, long long mss, SenderRules rules, bint timestamps, long long wmem_default,
        long long wmem_max, long long overhead_bytes
    ) except -1
    cpdef int write(self, long long count, bint end_of_send) except -1
    cpdef bint sent(self, long long length) except? -1
    cpdef int push(self, long long end_seq) except -1
    cpdef bint last_pushed(self) except? -1
    cpdef bint acknowledge(self, long long ack, long long window) except? -1
    cpdef bint open_window(self, long long window) except? -1
    cpdef long long window_left(self) except? -1
    cdef bint _sync_mss(self) except? -1
    cpdef long long wmem_queued(self) except? -1
    cpdef long long room(self) except? -1
    cpdef bint write_space(self, long long segments) except? -1
