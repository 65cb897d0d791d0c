from simnet.net.tcp.recovery.recovery cimport Recovery

cpdef int reduce_window(Recovery recovery, long long delivered, long long lost, bint advanced) except -1
