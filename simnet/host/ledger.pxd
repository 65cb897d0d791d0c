cdef class Ledger:
    cdef public long long hardirq
    cdef public long long softirq
    cdef public long long driver
    cdef public long long tcp_receive
    cdef public long long tcp_ack
    cdef public long long tcp_send
    cdef public long long completion
    cdef public long long copy
    cdef public long long checksum
    cdef public long long device_lines
    cdef public long long copy_lines
    cdef public long long socket_lines
    cdef public long long skb_lines
    cdef public long long wakeup
    cdef public long long syscall
    cdef public long long application
    cdef public long long storage
