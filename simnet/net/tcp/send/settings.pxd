from simnet.kernel.sentinel cimport NEVER
from simnet.net.tcp.congestion.cubic cimport CongestionMaker
from simnet.net.tcp.rules.sender_version cimport SenderRules

cdef class SenderSettings:
    cdef CongestionMaker congestion
    cdef SenderRules rules
    cdef long long mss
    cdef long long wmem_default
    cdef long long wmem_max
    cdef long long overhead_bytes
    cdef long long jiffy_ps
    cdef long long rto_min_ps
    cdef long long rto_max_ps
    cdef long long rto_init
    cdef int tso_win_divisor
    cdef long long reordering
    cdef long long nagle_limit
    cdef bint tso
    cdef bint sack
    cdef bint restarts
    cdef bint timestamps
    cdef bint nodelay
    cdef bint paces
