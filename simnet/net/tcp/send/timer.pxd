from simnet.net.tcp.recovery.sack_recovery cimport SackRecovery
from simnet.net.tcp.send.state cimport SendState

cdef class SendTimer(SendState):
    cdef int _sample_us(self, long long acked, long long echo) except -1
    cdef int _take_rtt(self, long long rtt_us) except -1
    cdef int _rtt_sample(self, long long rtt) except -1
    cdef long long _rto_left_us(self) except? -1
    cdef int _rearm(self, long long now_jiffy) except -1
    cdef bint _schedule_loss_probe(self, long long now_jiffy, long long rto_left_us) except? -1
    cdef int _set_timer(self, long long now_jiffy) except -1
    cdef int _set_timer_sent(self, bint alone, long long now_jiffy) except -1
    cdef bint _early_timer(self, long long now_jiffy) except? -1
