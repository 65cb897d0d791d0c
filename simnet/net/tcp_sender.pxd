from simnet.host.cpu cimport Cpu
from simnet.net.congestion cimport Congestion
from simnet.net.skb cimport Endpoint, Skb, SkbQueue, new_skb
from simnet.net.tcp_sack cimport SackScore

cdef class TcpSender:
    cdef readonly long long snd_una
    cdef readonly long long snd_nxt
    cdef readonly long long write_seq
    cdef readonly long long snd_wnd
    cdef readonly long long max_window
    cdef readonly long long sndbuf
    cdef readonly long long mss
    cdef readonly Congestion congestion
    cdef readonly int reordering
    cdef readonly int duplicate_acks
    cdef readonly bint recovering
    cdef readonly bint sack
    cdef readonly SackScore score
    cdef public bint nodelay
    cdef public bint tso
    cdef long long recover_seq
    cdef long long wmem_max
    cdef long long segment_truesize
    cdef long long pushed_seq
    cdef long long small_end
    cdef long long jiffy_ps
    cdef long long rto_min
    cdef long long rto_max
    cdef long long srtt
    cdef long long mdev
    cdef readonly long long rto
    cdef readonly int backoff
    cdef readonly long long rto_jiffy
    cdef long long timed_seq
    cdef long long timed_jiffy
    cdef long long last_sent_jiffy
    cdef int tso_win_divisor
    cdef long long[::1] ends
    cdef long long ends_mask
    cdef long long ends_head
    cdef long long ends_tail
    cdef readonly long long retransmit_seq
    cdef readonly int burst_left
    cdef public bint probing
    cdef readonly long long retransmissions
    cdef readonly long long timeouts
    cdef readonly long long segments

    cpdef long long packets_out(self) except? -1
    cpdef long long wmem_queued(self) except? -1
    cpdef long long room(self) except? -1
    cpdef bint write_space(self) except? -1
    cpdef int write(self, long long count, bint end_of_send) except -1
    cpdef long long next_segment(self, long long now_jiffy) except? -1
    cpdef bint last_pushed(self) except? -1
    cpdef bint awaits_window(self, long long now_jiffy) except? -1
    cpdef int sent(self, long long length, long long now_jiffy) except -1
    cpdef long long acknowledge(self, long long ack, long long window, long long now_jiffy, int held=*) except? -1
    cpdef long long retransmission(self) except? -1
    cpdef long long stage(
        self, SkbQueue queue, Endpoint remote, int overhead_bytes, Cpu cpu, long long now_jiffy
    ) except? -1
    cpdef bint stage_probe(
        self, SkbQueue queue, Endpoint remote, int overhead_bytes, Cpu cpu
    ) except? -1
    cdef int _append(
        self, SkbQueue queue, Endpoint remote, int overhead_bytes, Cpu cpu, long long seq,
        long long end_seq, bint push
    ) except -1
    cpdef long long timer_due(self, long long now_jiffy) except? -1
    cpdef bint overdue(self, long long now_jiffy) except? -1
    cpdef bint timer_expired(self, long long now_jiffy) except? -1
    cpdef int sack_option(self, long long ack, int held, long long highest, long long recent, bint dsack) except -1
    cdef int _duplicate(self, int held) except -1
    cdef bint _undo(self) except? -1
    cdef int _rtt_sample(self, long long rtt) except -1
    cdef int _grow_ends(self) except -1
