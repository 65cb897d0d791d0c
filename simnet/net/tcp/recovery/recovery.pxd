cimport cython

from simnet.kernel.sentinel cimport NONE
from simnet.net.tcp.congestion.control cimport Congestion
from simnet.net.tcp.recovery.scoreboard cimport Scoreboard
from simnet.net.tcp.send.sequence cimport SendSequence
from simnet.net.tcp.send.timer cimport SendTimer

cpdef enum:
    OPEN = 0
    DISORDER
    CWR
    RECOVERY
    LOSS

# declared here, too, or the classes upon it are tracked after all
@cython.no_gc
cdef class Recovery:
    cdef readonly SendSequence seq
    cdef readonly Scoreboard board
    cdef readonly Congestion congestion
    cdef readonly SendTimer timer
    cdef readonly int state
    cdef readonly int frto
    cdef readonly bint ece
    cdef readonly bint retransmitting
    cdef readonly bint advanced
    cdef readonly int retransmits
    cdef readonly long long prr_out
    cdef readonly long long high_seq
    cdef readonly long long prior_ssthresh
    cdef readonly long long prior_cwnd
    cdef readonly long long prr_delivered
    cdef readonly long long retrans_stamp
    cdef readonly long long prior_una
    cdef readonly long long tsecr
    cdef readonly long long delivered
    cdef long long now_jiffy
    cdef readonly long long entered
    cdef readonly long long undone
    cdef readonly long long spurious

    cdef int _start(self, Scoreboard board, Congestion congestion, SendTimer timer) except -1
    cpdef bint may_raise(self) except? -1
    cpdef long long current_ssthresh(self) except? -1
    cpdef int see(self, long long prior_una, long long tsecr, long long now_jiffy) except -1
    cpdef int reduce_in_proportion(self, long long delivered, bint more, bint least) except -1
    cpdef int timeout(self) except -1
    cdef bint _lower_threshold(self) except? -1
    cdef int _enter_loss(self, bint forget) except -1
    cpdef int sent(self) except -1
    cpdef int resending(self) except -1
    cpdef long long next_retransmission(self, bint may_send) except? -1
    cpdef int resent(self, long long number, long long now_jiffy) except -1
