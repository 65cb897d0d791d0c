from simnet.kernel.sentinel cimport NONE
from simnet.net.tcp.recovery.recovery cimport CWR, DISORDER, LOSS, OPEN, RECOVERY
from simnet.net.tcp.recovery.scoreboard cimport Scoreboard
from simnet.net.tcp.send.timer cimport SendTimer
from simnet.net.tcp.recovery.rack cimport Rack
from simnet.net.tcp.recovery.sacktag cimport SackTags
from simnet.net.tcp.recovery.states cimport States
from simnet.net.tcp.recovery.tlp cimport LossProbe
from simnet.net.tcp.send.rtt cimport RttEstimator

cdef class SackRecovery(States):
    cdef readonly RttEstimator rtt
    cdef readonly Rack rack
    cdef readonly SackTags tags
    cdef readonly LossProbe probe
    cdef readonly bint raises
    cdef readonly bint new_first
    cdef bint rearms
    cdef bint lost_retransmission
    cdef long long look_again
    cdef long long renege

    cdef int _begin(self) except -1
    cpdef long long acknowledge(self, list blocks, bint news) except? -1
    cdef int _tag(self, list blocks, long long ack) except -1
    cdef long long _idle(self, bint news) except? -1
    cpdef int overtaken(self, list blocks, long long ack) except -1
    cdef int _measure(self, long long acked) except -1
    cdef int _probed(self, bint duplicate) except -1
    cdef int _alert(self, bint duplicate) except -1
    cdef int _identify(self) except -1
    cdef int _begin_reduction(self) except -1
    cdef bint _may_undo(self) except? -1
    cdef int _undo(self, bint unmark) except -1
    cdef int _undo_recovery(self) except -1
    cdef bint _undo_dsack(self) except? -1
    cdef bint _undo_partial(self) except? -1
    cdef bint _undo_loss(self, bint spurious) except? -1
    cdef int _process_loss(self, bint duplicate) except -1
    cdef int _all_late(self) except -1
    cpdef bint reordering_timeout(self) except? -1
    cdef int _set_timer(self) except -1
    cdef bint _schedule_probe(self, long long now_jiffy, long long rto_left_us) except? -1
    cpdef int sent_new(self, bint alone, long long now_jiffy) except -1
    cpdef int probed(self, bint fresh, long long now_jiffy) except -1
    cpdef int nothing_new(self) except -1
