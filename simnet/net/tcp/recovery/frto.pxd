from simnet.net.tcp.congestion.control cimport Congestion
from simnet.net.tcp.recovery.scoreboard cimport Scoreboard

cdef enum:
    NEEDLESS = -1
    WAITS = 0
    ANSWERED = 1

cdef class Frto:
    cdef Scoreboard board
    cdef Congestion congestion
    cdef readonly long long high

    cdef int init(self, Scoreboard board, Congestion congestion) except -1
    cpdef int begin(self, long long high) except -1
    cpdef int judge(
        self, int step, long long acked, long long newly, bint beyond, bint duplicate, bint may_send
    ) except? -2
