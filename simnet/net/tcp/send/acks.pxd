from simnet.net.tcp.recovery.recovery cimport Recovery
from simnet.net.tcp.recovery.sack_recovery cimport SackRecovery
from simnet.net.tcp.recovery.scoreboard cimport Scoreboard
from simnet.net.tcp.send.window cimport SendWindow

cdef class SendAcks(SendWindow):
    cdef bint _tag(self, list blocks, long long ack, long long prior_una) except? -1
    cdef int _overtaken(
        self, list blocks, long long ack, long long now_jiffy, long long echo
    ) except -1
    cdef long long _acknowledge_with_sack(
        self, long long prior_una, long long before, long long now_jiffy, list blocks,
        long long echo, bint news
    ) except? -1
    cdef int _dubious(
        self, long long prior_una, long long flight, long long acked, long long now_jiffy,
        list blocks, long long echo, bint sacked, bint no_duplicate,
        bint may_send
    ) except -1
