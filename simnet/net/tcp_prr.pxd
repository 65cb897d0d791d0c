from simnet.net.tcp_recovery cimport Recovery

cpdef int reduce_window(Recovery recovery, long long delivered, long long lost, bint advanced) except -1
