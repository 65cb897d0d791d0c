from simnet.net.tcp.recovery.segment cimport END, EVER, LOST, MARK, RETRANS, SACKED, SENT, SENT_US, TAG, TAGS, WORDS
from simnet.net.tcp.send.sequence cimport SendSequence

cdef class Scoreboard:
    cdef readonly SendSequence seq
    cdef readonly long long head
    cdef readonly long long tail
    cdef long long mask
    cdef public long long sacked_out
    cdef readonly long long lost_out
    cdef readonly long long retrans_out
    cdef readonly long long rtt_jiffies
    cdef readonly long long acked_sent_us
    cdef readonly bint tagged
    cdef readonly bint retrans_acked
    cdef readonly long long[::1] ring
    cdef public long long fackets_out
    cdef readonly long long reordering
    cdef readonly long long least_reordering
    cdef long long max_reordering
    cdef readonly bint sack
    cdef readonly bint fack
    cdef bint counts_sacked
    cdef bint ack_shows_reordering
    cdef bint dsack_goes_for_all
    cdef readonly long long undo_marker
    cdef readonly long long undo_retrans
    cdef readonly long long hint
    cdef long long lost_hint
    cdef long long lost_count
    cdef list seen
    cdef readonly long long newly_sacked

    cpdef long long packets_out(self) except? -1
    cpdef long long in_flight(self) except? -1
    cpdef long long end_of(self, long long number) except? -1
    cpdef long long sent_us_of(self, long long number) except? -1
    cpdef int append(self, long long end_seq, long long now_jiffy, long long now_us) except -1
    cdef int _grow(self) except -1
    cpdef long long clean(self, long long ack, long long now_jiffy) except? -1
    cdef long long _clean_tagged(self, long long ack, long long now_jiffy) except? -1
    cpdef int update_reordering(self, long long metric) except -1
    cpdef int set_reordering(self, long long metric) except -1
    cdef long long find(self, long long seq) except? -1
    cpdef bint tag_blocks(
        self, list blocks, long long ack, long long prior_una, bint recovery, bint loss
    ) except? -1
    cdef long long _acked_in_holes(
        self, long long ack, long long fackets, long long reord, bint duplicate, object first
    ) except? -1
    cdef long long _tag_block(
        self, long long start, long long end, long long known, long long ack, long long fackets,
        long long reord, bint duplicate
    ) except? -1
    cdef bint _lost_retransmissions(self, long long upto) except? -1
    cpdef int mark_head_lost(self, long long packets, long long high_seq) except -1
    cpdef int mark_first_lost(self) except -1
    cpdef int head_lost_again(self) except -1
    cpdef int head_resent(self) except -1
    cdef int _mark(self, long long number, long long mask) except -1
    cpdef long long head_age(self, long long now_jiffy) except? -1
    cpdef int mark_timed_out(self, long long now_jiffy, long long rto) except -1
    cpdef bint all_lost(self, bint forget) except? -1
    cpdef int forget_held(self) except -1
    cpdef int probe_resent(self, long long number, long long now_jiffy) except -1
    cpdef int none_lost(self) except -1
    cpdef bint head_is_held(self) except? -1
    cpdef bint head_was_resent(self) except? -1
    cpdef long long next_lost(self) except? -1
    cpdef long long next_hole(self) except? -1
    cpdef int resent(self, long long number, long long now_jiffy) except -1
    cpdef int duplicate_ack(self) except -1
    cpdef int eat_duplicates(self, long long acked) except -1
    cdef bint limit_duplicates(self) except? -1
    cpdef int mark_undo(self, long long retrans) except -1
    cpdef int forget_undo(self) except -1
    cpdef int count_resent(self) except -1
    cpdef int found_needless(self, long long count) except -1
    cpdef int none_held(self) except -1
    cpdef int scan_from(self, long long number) except -1
