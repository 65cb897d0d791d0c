from simnet.net.tcp.rules.receiver_version cimport ReceiverRules

cdef class ReceiveSequence:
    cdef readonly long long rcv_nxt
    cdef readonly long long copied_seq
    cdef readonly long long rcv_wup
    cdef readonly long long rcv_wnd
    cdef bint rule_strict_window

    cdef int init(self, ReceiverRules rules, long long rcv_wnd) except -1
    cpdef int start(self, long long seq) except -1
    cdef int received(self, long long end_seq, bint direct) except -1
    cdef int copied(self, long long count) except -1
    cdef int offered(self, long long window) except -1
    cpdef long long readable(self) except? -1
    cdef long long limit(self) except? -1
    cpdef long long room(self) except? -1
    cpdef bint acceptable(self, long long seq, long long end_seq) except? -1
