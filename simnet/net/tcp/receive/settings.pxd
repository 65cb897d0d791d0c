from simnet.net.tcp.receive.queue cimport SkbSizes
from simnet.net.tcp.rules.receiver_version cimport ReceiverRules

cdef class ReceiverSettings:
    cdef ReceiverRules rules
    cdef SkbSizes sizes
    cdef object timing
    cdef long long advmss
    cdef long long rmem_default
    cdef long long rmem_max
    cdef long long srtt_us
    cdef int max_quickacks
    cdef long long min_rcvmss
    cdef int option_bytes
    cdef bint moderate_rcvbuf
    cdef bint window_scaling
    cdef bint timestamps
    cdef bint sack
    cdef bint rcvbuf_locked
    cdef bint quickack
