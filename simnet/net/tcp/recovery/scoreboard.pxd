cimport cython

from simnet.kernel.sentinel cimport NONE
from simnet.net.tcp.recovery.segment cimport END, EVER, LOST, MARK, RETRANS, SACKED, SENT, SENT_US, TAG, TAGS, WORDS, free_segments, new_segments
from simnet.net.tcp.recovery.undo cimport Undo
from simnet.net.tcp.rules.sender_version cimport SenderRules
from simnet.net.tcp.send.sequence cimport SendSequence

cdef class Scoreboard:
    cdef readonly SendSequence seq
    cdef readonly long long head
    cdef readonly long long tail
    cdef long long mask
    cdef readonly long long sacked_out
    cdef readonly long long lost_out
    cdef readonly long long retrans_out
    cdef readonly long long rtt_jiffies
    cdef readonly long long acked_sent_us
    cdef readonly bint tagged
    cdef readonly bint retrans_acked
    cdef long long *ring
    cdef readonly long long acked_hole
    cdef readonly long long reordering
    cdef readonly long long least_reordering
    cdef long long max_reordering
    cdef readonly bint sack
    cdef readonly Undo undo
    cdef readonly long long hint

    cdef int init(
        self, SenderRules rules, SendSequence seq, bint sack, long long reordering
    ) except -1
    cpdef long long packets_out(self) except? -1
    cpdef long long in_flight(self) except? -1
    cpdef long long end_of(self, long long number) except? -1
    cpdef long long sent_us_of(self, long long number) except? -1
    cpdef int append(self, long long end_seq, long long now_jiffy, long long now_us) except -1
    @cython.locals(grown=cython.p_longlong)
    cdef int _grow(self) except -1
    cpdef long long clean(self, long long ack, long long now_jiffy) except? -1
    cdef long long _clean_tagged(self, long long ack, long long now_jiffy) except? -1
    cpdef int update_reordering(self, long long metric) except -1
    cpdef int set_reordering(self, long long metric) except -1
    cdef long long find(self, long long seq) except? -1
    cpdef int begin_tags(self) except -1
    cdef int end_tags(self) except -1
    cpdef long long tags_of(self, long long number) except? -1
    cpdef int mark_lost(self, long long number) except -1
    cpdef int mark_first_lost(self) except -1
    cpdef bint lose(self, long long number) except? -1
    cpdef bint retransmission_gone(self, long long number) except? -1
    cpdef int mark_retransmitted(self, long long number) except -1
    cpdef int mark_sacked(self, long long number) except -1
    cpdef long long take_first(self) except? -1
    cpdef bint all_lost(self, bint forget) except? -1
    cpdef int forget_held(self) except -1
    cpdef int probe_resent(self, long long number, long long now_jiffy) except -1
    cpdef int none_lost(self) except -1
    cpdef bint head_is_held(self) except? -1
    cpdef bint head_was_resent(self) except? -1
    cpdef long long next_lost(self) except? -1
    cpdef int resent(self, long long number, long long now_jiffy) except -1
    cpdef int scan_from(self, long long number) except -1
    cpdef bint count_duplicate(self) except? -1
    cpdef bint eat_duplicates(self, long long acked) except? -1
    cdef bint _limit_duplicates(self) except? -1
    cpdef int none_held(self) except -1
