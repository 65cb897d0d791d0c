from simnet.host.ledger cimport Ledger

cdef class Costs:
    cdef readonly long long hardirq_ps
    cdef readonly long long softirq_entry_ps
    cdef readonly long long poll_ps
    cdef readonly long long driver_rx_ps
    cdef readonly long long skb_alloc_ps
    cdef readonly long long skb_free_ps
    cdef readonly long long ip_rx_ps
    cdef readonly long long tcp_rx_ps
    cdef readonly long long backlog_ps
    cdef readonly long long ack_tx_ps
    cdef readonly long long ack_rx_ps
    cdef readonly long long tcp_tx_ps
    cdef readonly long long bond_tx_ps
    cdef readonly long long tx_completion_ps
    cdef readonly long long wakeup_ps
    cdef readonly long long context_switch_ps
    cdef readonly long long ipi_ps
    cdef readonly long long syscall_ps
    cdef readonly long long user_recv_ps
    cdef readonly long long user_send_ps
    cdef readonly long long user_relay_ps
    cdef readonly long long user_request_ps
    cdef readonly long long user_loop_ps
    cdef readonly long long epoll_event_ps
    cdef readonly long long copy_line_ps
    cdef readonly long long csum_line_ps
    cdef readonly long long rx_page_ps
    cdef readonly long long page_zone_ps
    cdef readonly long long rps_ps
    cdef readonly long long gso_ps
    cdef readonly long long bio_ps
    cdef readonly long long page_ps
    cdef readonly int line_bytes
    cdef readonly int copy_overlap
    cdef readonly Ledger ledger

    cdef long long lines(self, long long length) except? -1
    cdef long long overlapping_ps(self, long long fetches_ps) except? -1
    cdef long long checksum_ps(self, long long length) except? -1

cdef class Spread:
    cdef long long state
    cdef long long permille
    cdef int init(self, unsigned long long seed, long long permille) except -1
    cpdef long long vary(self, long long work_ps) except? -1
