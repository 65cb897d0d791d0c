from simnet.kernel.sentinel cimport NONE
from simnet.net.tcp.recovery.segment cimport END, LOST, NEXT, PREVIOUS, RETRANS, SENT_US, WORDS
from simnet.net.tcp.recovery.recovery cimport RECOVERY
from simnet.net.tcp.send.rtt cimport RttEstimator
from simnet.net.tcp.recovery.scoreboard cimport Scoreboard

cdef class Rack:
    cdef readonly Scoreboard board
    cdef readonly RttEstimator rtt
    cdef readonly long long rtt_us
    cdef readonly long long sent_us
    cdef readonly long long end_seq
    cdef readonly bint advanced
    cdef readonly int steps
    cdef readonly int persist
    cdef readonly long long reordering_seen
    cdef readonly bint dsack_seen
    cdef long long adjusted_us
    cdef readonly long long latest_us
    cdef readonly long long lost
    cdef bint listed
    cdef long long linked
    cdef long long oldest
    cdef long long newest
    cdef readonly long long resent_below

    cpdef int link(self) except -1
    cdef int _append(self, long long number) except -1
    cpdef int unlink(self, long long number) except -1
    cpdef int resent(self, long long number, long long now_us) except -1
    cpdef int forget(self) except -1
    cpdef int begin(self) except -1
    cpdef int came(self, long long sent_us) except -1
    cpdef int came_twice(self) except -1
    cpdef int came_late(self) except -1
    cdef bint take_advance(self) except? -1
    cpdef int look(self) except -1
    cpdef int delivered(
        self, long long sent_us, long long end_seq, bint resent, long long now_us
    ) except -1
    cpdef int adjust(self, long long now_us) except -1
    cpdef int recovered(self, bint by_dsack) except -1
    cpdef long long window_us(self, int state) except? -1
    cpdef long long left_us(self, long long number, long long window_us, long long now_us) except? -1
    cpdef long long detect(self, int state, long long now_us) except? -1
    cpdef int lose(self, long long number) except -1
