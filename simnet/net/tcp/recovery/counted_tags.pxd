from simnet.kernel.sentinel cimport NONE
from simnet.net.tcp.recovery.scoreboard cimport Scoreboard
from simnet.net.tcp.recovery.segment cimport EVER, LOST, MARK, RETRANS, SACKED, SENT, TAGS, WORDS
from simnet.net.tcp.recovery.undo cimport Undo
from simnet.net.tcp.rules.sender_version cimport SenderRules

cdef class CountedTags:
    cdef readonly Scoreboard board
    cdef Undo undo
    cdef readonly long long fackets_out
    cdef readonly bint fack
    cdef readonly long long newly_sacked
    cdef long long lost_head
    cdef long long lost_hint
    cdef long long lost_count
    cdef list seen
    cdef bint counts_sacked
    cdef bint ack_shows_reordering
    cdef bint dsack_goes_for_all

    cdef int init(self, SenderRules rules, Scoreboard board) except -1
    cpdef int update_reordering(self, long long metric) except -1
    cpdef int acknowledged(self, long long acked) except -1
    cpdef int none_held(self) except -1
    cpdef int restart(self, bint forget) except -1
    cpdef bint tag_blocks(
        self, list blocks, long long ack, long long prior_una, bint recovery, bint loss
    ) except? -1
    cdef long long _acked_in_holes(
        self, long long ack, long long reord, bint duplicate, object first
    ) except? -1
    cdef long long _tag_block(
        self, long long start, long long end, long long known, long long ack, long long fackets,
        long long reord, bint duplicate
    ) except? -1
    cdef bint _lost_retransmissions(self, long long upto) except? -1
    cpdef int mark_head_lost(self, long long packets, long long high_seq) except -1
    cpdef bint time_to_recover(self, bint overdue, bint sends) except? -1
    cpdef int update_scoreboard(self, bint fast, long long high_seq) except -1
    cpdef long long head_age(self, long long now_jiffy) except? -1
    cpdef int mark_timed_out(self, long long now_jiffy, long long rto) except -1
    cpdef long long next_hole(self) except? -1
