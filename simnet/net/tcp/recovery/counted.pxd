from simnet.kernel.sentinel cimport NONE
from simnet.net.tcp.congestion.control cimport Congestion
from simnet.net.tcp.recovery.counted_tags cimport CountedTags
from simnet.net.tcp.recovery.frto cimport ANSWERED, NEEDLESS, WAITS, Frto
from simnet.net.tcp.recovery.scoreboard cimport Scoreboard
from simnet.net.tcp.recovery.recovery cimport CWR, DISORDER, LOSS, OPEN, RECOVERY, Recovery
from simnet.net.tcp.rules.sender_version cimport SenderRules
from simnet.net.tcp.send.timer cimport SendTimer

cdef class CountedRecovery(Recovery):
    cdef readonly CountedTags tags
    cdef readonly Frto search
    cdef bint data_lost
    cdef bint head_timeout
    cdef bint head_timeout_fack
    cdef bint counts_sacked
    cdef bint forward_retransmit
    cdef bint moderates_open
    cdef bint uses_frto
    cdef int reduction

    cdef int init(
        self, SenderRules rules, Scoreboard board, Congestion congestion, SendTimer timer
    ) except -1
    cpdef bint may_grow(
        self, bint duplicate, long long acked, long long newly, list blocks, bint may_send
    ) except? -1
    cpdef int alert(
        self, bint duplicate, bint data_sacked, long long acked, bint may_send
    ) except -1
    cdef int _count_duplicate(self, bint duplicate) except -1
    cdef bint _leave(self) except? -1
    cdef int _complete(self) except -1
    cdef bint _head_timed_out(self) except? -1
    cdef bint _time_to_recover(self, bint may_send) except? -1
    cdef int _enter_recovery(self) except -1
    cdef int _update_scoreboard(self, bint fast) except -1
    cdef int _moderate(self) except -1
    cdef int _reduce(self, bint fast, bint duplicate) except -1
    cdef int _try_to_open(self) except -1
    cdef bint _may_undo(self) except? -1
    cdef int _undo_window(self, bint threshold) except -1
    cdef bint _undo_recovery(self) except? -1
    cdef int _undo_dsack(self) except -1
    cdef bint _undo_partial(self, long long acked) except? -1
    cdef bint _undo_loss(self) except? -1
    cdef int _renege(self) except -1
    cdef int _enter_frto(self) except -1
    cdef int _frto_loss(self, long long allowed) except -1
    cdef bint _process_frto(
        self, long long acked, long long newly, bint beyond, bint duplicate, bint may_send
    ) except? -1
    cdef int _enter_cwr(self) except -1
