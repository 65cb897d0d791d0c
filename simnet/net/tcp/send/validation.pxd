from simnet.net.tcp.congestion.control cimport Congestion
from simnet.net.tcp.recovery.recovery cimport OPEN, Recovery
from simnet.net.tcp.rules.sender_version cimport SenderRules
from simnet.net.tcp.send.timer cimport SendTimer

cdef class WindowValidation:
    cdef Recovery recovery
    cdef SendTimer timer
    cdef Congestion congestion
    cdef bint tso
    cdef int tso_win_divisor
    cdef bint restarts
    cdef bint near_limit
    cdef readonly bint limited_when_sent
    cdef bint keeps_limit
    cdef bint cwnd_limited
    cdef long long initial_cwnd
    cdef long long cwnd_used
    cdef long long cwnd_jiffy
    cdef long long last_sent_jiffy
    cdef long long max_packets_out
    cdef long long usage_seq

    cdef int init(
        self, Recovery recovery, SenderRules rules, bint tso, int tso_win_divisor, bint restarts
    ) except -1
    cdef bint limited(self, long long flight) except? -1
    cdef int note_limit(self, long long prior_nxt, bint deferred) except -1
    cdef int segment_sent(self, long long out, long long now_jiffy) except -1
    cdef int _application_limited(self, long long now_jiffy) except -1
    cdef int _restart(self, long long now_jiffy) except -1
