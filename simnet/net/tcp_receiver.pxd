from simnet.net.skb cimport Skb

cdef class TcpReceiver:
    cdef readonly long long rcv_nxt
    cdef readonly long long rcv_wup
    cdef readonly long long copied_seq
    cdef readonly long long rcv_wnd
    cdef readonly long long rcv_ssthresh
    cdef readonly long long window_clamp
    cdef readonly long long rcvbuf
    cdef readonly long long rmem_alloc
    cdef readonly long long rcv_mss
    cdef readonly int rcv_wscale
    cdef readonly int quick
    cdef readonly bint pingpong
    cdef readonly bint scheduled
    cdef readonly bint pushed
    cdef public bint blocked
    cdef readonly long long ato
    cdef public long long timeout_jiffy
    cdef long long lrcvtime
    cdef bint started
    cdef long long advmss
    cdef long long rmem_max
    cdef long long jiffy_ps
    cdef readonly long long ato_min
    cdef long long delack_max
    cdef long long rto_jiffies
    cdef int max_quickacks
    cdef long long min_rcvmss
    cdef long long last_small
    cdef bint moderate_rcvbuf
    cdef long long rtt
    cdef long long rcvq_seq
    cdef long long rcvq_time
    cdef long long rcvq_space
    cdef long long truesize_overhead
    cdef readonly list out_of_order
    cdef readonly long long recent_seq
    cdef readonly bint dsack
    cdef tuple repeated
    cdef readonly long long segments
    cdef readonly long long duplicates
    cdef readonly long long out_of_order_segments

    cpdef long long truesize(self, long long length) except? -1
    cpdef long long select_window(self) except? -1
    cpdef bint segment(self, long long seq, long long end_seq, bint push, bint direct, long long now_jiffy) except? -1
    cpdef bint holds_ack(self, long long seq, long long end_seq) except? -1
    cpdef bint ack_due_after_copy(self, long long copied) except? -1
    cpdef int fill_sack(self, Skb skb, bint dsack) except -1
    cpdef long long ack_sent(self, long long now_jiffy) except? -1
    cpdef int data_sent(self, long long now_jiffy) except -1
    cpdef long long schedule_delack(self, long long now_jiffy) except? -1
    cpdef bint delack_expired(self, long long now_jiffy) except? -1
    cpdef int copied(self, long long count, long long now_jiffy) except -1
    cpdef long long readable(self) except? -1
    cpdef int space_adjust(self, long long now_jiffy) except -1
    cdef int _event_data(self, long long length, bint push, long long now_jiffy) except -1
    cdef int _grow_window(self, long long length) except -1
    cdef int _measure_mss(self, long long length, bint push) except -1
    cdef int _add_quickacks(self) except -1
    cdef int _insert(self, long long seq, long long end_seq) except -1
    cdef int _merge(self) except -1
    cdef long long _space(self) except? -1
