from simnet.net.tcp.congestion.control cimport Bic, Congestion
from simnet.net.tcp.rules.sender_version cimport SenderRules

cdef class Cubic(Congestion):
    cdef readonly long long ack_ratio
    cdef long long epoch
    cdef long long hz
    cdef readonly long long delay_min
    cdef long long now_ms
    cdef bint hystart
    cdef readonly long long count
    cdef long long last_cwnd
    cdef long long last_jiffy
    cdef readonly long long last_max_cwnd
    cdef long long ack_count
    cdef readonly long long tcp_cwnd
    cdef long long loss_cwnd
    cdef readonly long long origin
    cdef readonly long long k
    cdef long long beta
    cdef long long beta_scale
    cdef readonly int found
    cdef int samples
    cdef long long round_start_ms
    cdef long long last_ack_ms
    cdef long long round_end
    cdef long long round_rtt
    cdef int _hystart(self, long long delay) except -1
    cdef int _update(self, long long now_jiffy, long long acked) except -1
    cdef long long _target(self, long long now_jiffy) except? -1
    cdef int _tcp_friendliness(self, long long cwnd) except -1

cdef class CongestionMaker:
    cdef int kind
    cdef long long initial_cwnd
    cdef long long mss
    cdef int abc
    cdef long long hz
    cdef SenderRules rules
    cpdef Congestion make(self)
