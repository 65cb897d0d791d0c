from simnet.net.tcp.rules.receiver_version cimport ReceiverRules

cdef class AckCompression:
    cdef readonly int compressed
    cdef public bint started
    cdef int duplicate_acks
    cdef long long compressed_at
    cdef int most
    cdef long long max_ps
    cdef long long slack_ps
    cdef readonly long long srtt_us

    cdef int init(self, ReceiverRules rules, bint sack, long long srtt_us) except -1
    cdef bint holds(self, long long rcv_nxt) except? -1
    cdef int sent(self) except -1
    cpdef long long delay_ps(self, long long rtt) except? -1
