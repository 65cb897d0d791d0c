from simnet.kernel.sentinel cimport NONE
from simnet.net.tcp.receive.queue cimport ReceiveQueue, SkbSizes
from simnet.net.tcp.receive.reassembly cimport Reassembly
from simnet.net.tcp.rules.receiver_version cimport ReceiverRules

cdef class ReceiveWindow:
    cdef readonly ReceiveQueue queue
    cdef readonly Reassembly held
    cdef readonly SkbSizes sizes
    cdef readonly long long rcvbuf
    cdef readonly long long rcv_ssthresh
    cdef readonly long long window_clamp
    cdef readonly long long ratio
    cdef readonly int wscale
    cdef readonly bint scarce
    cdef int adv_win_scale
    cdef bint zero_window_early
    cdef bint opens_small
    cdef readonly long long advmss
    cdef long long rmem_max
    cdef bint moderate
    cdef bint locked
    cdef readonly long long first
    cdef bint grows_twice_length
    cdef int right_sizing
    cdef public long long rtt
    cdef long long rtt_seq
    cdef long long rtt_time
    cdef long long rcvq_seq
    cdef long long rcvq_time
    cdef readonly long long rcvq_space
    cdef int init(
        self, ReceiverRules rules, SkbSizes sizes, long long advmss, long long rmem_default,
        long long rmem_max, bint moderate, bint locked, bint scaling
    ) except -1
    cdef int _first_offer(self, long long segments) except -1
    cdef long long _segment_memory(self) except? -1
    cpdef long long from_space(self, long long space) except? -1
    cpdef long long full(self) except? -1
    cpdef long long allocated(self) except? -1
    cpdef long long space(self, long long uncharged=*) except? -1
    cpdef long long offer(self, long long current, long long rcv_mss) except? -1
    cpdef bint grow(self, long long length, long long rcv_mss, long long uncharged=*) except? -1
    cpdef int measured(self, long long length, long long current) except -1
    cpdef int limit(self, long long clamp, long long current) except -1
    cpdef bint full_buffer(self) except? -1
    cpdef int measure_rtt(self, long long rcv_nxt, long long rcv_wnd, long long now) except -1
    cpdef int adjust(self, long long copied_seq, long long rcv_nxt, long long now) except -1
    cpdef int started(self, long long now) except -1
    cdef int _follow_segments(self, long long space) except -1
    cdef int _follow_cushioned(self, long long copied) except -1
    cpdef int follow(self, long long copied, long long rcv_nxt) except -1
