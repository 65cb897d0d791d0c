from simnet.kernel.sentinel cimport NONE
from simnet.net.tcp.recovery.scoreboard cimport Scoreboard
from simnet.net.tcp.send.rtt cimport RttEstimator

cdef class SendTimer:
    cdef readonly Scoreboard board
    cdef readonly RttEstimator rtt
    cdef readonly long long rto_jiffy
    cdef readonly long long rto
    cdef readonly long long now_us
    cdef readonly int pending
    cdef readonly int expired
    cdef readonly int backoff
    cdef readonly bint wants_us
    cdef readonly bint resends_head
    cdef readonly bint probing

    cdef int init(
        self, Scoreboard board, RttEstimator rtt, long long rto_init, bint wants_us
    ) except -1
    cpdef int set_time(self, long long now_ps) except -1
    cpdef int measured(self, long long rtt, long long latest) except -1
    cpdef int start(self, long long now_jiffy) except -1
    cpdef int set_for(self, long long now_jiffy, long long jiffies) except -1
    cpdef int stop(self) except -1
    cpdef int first_sent(self, long long now_jiffy) except -1
    cpdef int await_window(self, long long now_jiffy) except -1
    cpdef long long left_us(self) except? -1
    cpdef int rearm(self, long long now_jiffy) except -1
    cpdef int look_again(self, long long now_jiffy, long long jiffies) except -1
    cpdef int probe_after(self, long long now_jiffy, long long jiffies) except -1
    cpdef int sent(self, bint alone, long long now_jiffy) except -1
    cpdef int head_resent(self, long long now_jiffy) except -1
    cpdef bint overdue(self, long long now_jiffy) except? -1
    cpdef bint expire(self) except? -1
    cpdef int time_out(self, long long now_jiffy) except -1
    cpdef bint probe_window(self, bint unsent) except? -1
    cpdef bint take_probe(self) except? -1
    cpdef bint take_head(self) except? -1
    cpdef bint take_loss_probe(self) except? -1
    cpdef int handled(self, long long now_jiffy) except -1
    cpdef int probed(self, long long now_jiffy) except -1
