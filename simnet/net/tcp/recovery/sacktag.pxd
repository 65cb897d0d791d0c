from simnet.kernel.sentinel cimport NEVER, NONE
from simnet.net.tcp.recovery.segment cimport END, EVER, RETRANS, SACKED, SENT_US, WORDS
from simnet.net.tcp.recovery.rack cimport Rack
from simnet.net.tcp.recovery.scoreboard cimport Scoreboard

cdef class SackTags:
    cdef readonly Scoreboard board
    cdef readonly Rack rack
    cdef readonly long long highest
    cdef readonly long long probe_end
    cdef public long long resent
    cdef list seen
    cdef readonly long long dsacks
    cdef readonly bint sacked
    cdef readonly bint dsack
    cdef readonly bint dsack_probe
    cdef readonly bint originals
    cdef readonly bint retransmitted
    cdef public long long delivered
    cdef public long long first_us
    cdef public long long last_us
    cdef readonly long long sack_first_us
    cdef readonly long long sack_last_us
    cdef readonly bint renege
    cdef readonly long long now_us
    cdef readonly long long una
    cdef long long high_seq
    cdef long long reord
    cdef long long inside_from
    cdef long long inside_to

    cpdef int begin(self, long long una, long long high_seq, long long now_us) except -1
    cpdef int probe(self, long long end) except -1
    cpdef int resends(self, long long number, long long now_us) except -1
    cpdef long long highest_held(self) except? -1
    cpdef int tag(
        self, list blocks, long long ack, long long prior_una, long long snd_nxt, bint lossy
    ) except -1
    cdef list _valid(self, list blocks, long long prior_una, long long snd_nxt, bint duplicate)
    cdef long long _skip(self, long long at, long long seq) except? -1
    cdef long long _walk(self, long long at, long long start, long long end, bint again) except? -1
    cdef long long _start(self, long long number) except? -1
    cdef bint _duplicate(self, list blocks, long long ack, long long prior_una) except? -1
    cdef int _tag_one(self, long long number, bint duplicate) except -1
    cdef int _came(self, long long sent_us, long long end, long long tags) except -1
    cdef int _reordered(self, long long low) except -1
    cpdef int delayed(self, long long prior_una) except -1
    cpdef int in_order(self, long long acked) except -1
    cpdef long long clean(self, long long prior_highest, long long echo_ms) except? -1
    cdef int _forget_tags(self) except -1
