from simnet.kernel.sentinel cimport NONE
from simnet.net.tcp.recovery.recovery cimport CWR, OPEN
from simnet.net.tcp.send.rtt cimport RttEstimator
from simnet.net.tcp.recovery.sacktag cimport SackTags

cdef class LossProbe:
    cdef SackTags tags
    cdef RttEstimator rtt
    cdef long long init_jiffies
    cdef readonly long long margin_us
    cdef readonly bint retransmitted
    cdef readonly long long sent
    cdef readonly long long repaired

    cpdef long long timeout_jiffies(
        self, int state, long long packets_out, long long rto_left_us
    ) except? -1
    cpdef int begin(self, long long snd_nxt, bint retransmitted) except -1
    cpdef int end(self) except -1
    cpdef bint repaired_loss(self, long long ack, bint advanced, bint duplicate) except? -1
