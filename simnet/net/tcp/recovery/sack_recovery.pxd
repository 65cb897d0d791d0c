from simnet.net.tcp.recovery.prr cimport reduce_window
from simnet.net.tcp.recovery.rack cimport Rack
from simnet.net.tcp.recovery.recovery cimport Recovery
from simnet.net.tcp.send.rtt cimport RttEstimator
from simnet.net.tcp.recovery.sacktag cimport SackTags
from simnet.net.tcp.recovery.scoreboard cimport Scoreboard
from simnet.net.tcp.recovery.states cimport States
from simnet.net.tcp.recovery.tlp cimport LossProbe

cdef class SackRecovery(States):
    cdef readonly RttEstimator rtt
    cdef readonly Rack rack
    cdef readonly SackTags tags
    cdef readonly LossProbe probe
    cdef readonly bint frto
    cdef readonly long long rto
    cdef readonly bint rearms
    cdef readonly long long look_again
    cdef readonly long long renege
    cdef readonly bint raises
    cdef readonly bint new_first
    cdef bint lost_retransmission
    cdef bint may_send

    cdef int _begin(self) except -1
    cpdef long long acknowledge(
        self, long long prior_una, list blocks, long long echo_ms, bint news, bint may_send,
        long long now_jiffy, long long now_us
    ) except? -1
    cdef int _tag(self, list blocks, long long ack, long long prior_una) except -1
    cdef long long _idle(self, long long prior_una, long long now_us, bint news) except? -1
    cpdef int overtaken(
        self, list blocks, long long ack, long long echo_ms, long long now_us
    ) except -1
    cdef int _measure(self, long long acked, long long now_jiffy) except -1
    cdef int _probed(self, bint duplicate) except -1
    cdef int _alert(self, long long prior_una, bint duplicate, long long now_us) except -1
    cdef int _identify(self, long long now_us) except -1
    cdef int _begin_reduction(self) except -1
    cdef bint _may_undo(self) except? -1
    cdef int _undo(self, bint unmark) except -1
    cdef int _undo_recovery(self) except -1
    cdef bint _undo_dsack(self) except? -1
    cdef bint _undo_partial(self, long long prior_una) except? -1
    cdef bint _undo_loss(self, bint spurious) except? -1
    cdef int _process_loss(self, bint duplicate) except -1
    cpdef int timeout(self, long long now_us) except -1
    cdef int _all_late(self, long long now_us) except -1
    cpdef bint reordering_timeout(self, long long now_us) except? -1
    cpdef int resent(self, long long number, long long now_us) except -1
    cpdef int probed(self, long long number, long long now_jiffy, long long now_us) except -1
    cpdef int nothing_new(self) except -1
