from simnet.host.cpu cimport Cpu
from simnet.net.congestion cimport Congestion
from simnet.net.skb cimport Endpoint, Skb, SkbQueue, new_skb
from simnet.net.tcp_newreno cimport NewReno
from simnet.net.tcp_recovery cimport Recovery
from simnet.net.tcp_rtt cimport RttEstimator
from simnet.net.tcp_sack_recovery cimport SackRecovery
from simnet.net.tcp_scoreboard cimport Scoreboard

cdef class TcpSender:
    cdef readonly Congestion congestion
    cdef readonly Scoreboard board
    cdef readonly Recovery recovery
    cdef readonly SackRecovery sacks
    cdef readonly RttEstimator rtt
    cdef readonly int pending
    cdef int expired
    cdef readonly long long snd_una
    cdef readonly long long snd_nxt
    cdef readonly long long write_seq
    cdef readonly long long snd_wnd
    cdef readonly long long max_window
    cdef readonly long long mss
    cdef readonly long long rto_jiffy
    cdef readonly long long rto
    cdef long long last_sent_jiffy
    cdef long long pushed_seq
    cdef long long small_end
    cdef long long cwnd_used
    cdef long long cwnd_jiffy
    cdef readonly long long segments
    cdef public long long now_us
    cdef public long long nagle_limit
    cdef bint force_head
    cdef bint limited_when_sent
    cdef bint deferred_limited
    cdef readonly int burst_left
    cdef public bint probing
    cdef public bint tso
    cdef public bint nodelay
    cdef public bint cork
    cdef readonly bint timestamps
    cdef readonly bint sack
    cdef bint restarts
    cdef readonly int backoff
    cdef long long srtt
    cdef long long mdev
    cdef long long mdev_max
    cdef long long rttvar
    cdef long long rtt_seq
    cdef long long rto_min
    cdef long long rto_max
    cdef readonly long long sndbuf
    cdef long long segment_truesize
    cdef bint no_space
    cdef long long path_mss
    cdef bint half_window
    cdef long long whole_window_bytes
    cdef long long least_mss
    cdef readonly NewReno newreno
    cdef long long wmem_max
    cdef long long jiffy_ps
    cdef long long initial_cwnd
    cdef bint near_limit
    cdef bint keeps_limit
    cdef bint cwnd_limited
    cdef long long max_packets_out
    cdef long long usage_seq
    cdef bint defers_two_ticks
    cdef bint defers_briefly
    cdef long long last_sent_us
    cdef long long deferred_jiffy
    cdef int tso_win_divisor
    cdef readonly long long retransmissions
    cdef readonly long long timeouts
    cdef bint minshall

    cdef int _sync_mss(self) except -1
    cpdef long long packets_out(self) except? -1
    cpdef long long wmem_queued(self) except? -1
    cpdef long long room(self) except? -1
    cpdef bint write_space(self) except? -1
    cpdef int write(self, long long count, bint end_of_send) except -1
    cpdef long long next_segment(self, long long now_jiffy) except? -1
    cpdef bint last_pushed(self) except? -1
    cpdef bint awaits_window(self, long long now_jiffy) except? -1
    cpdef int sent(self, long long length, long long now_jiffy) except -1
    cpdef long long acknowledge(
        self, long long ack, long long window, long long now_jiffy, list blocks=*, long long echo=*,
        bint with_data=*
    ) except? -1
    cdef bint _limited(self, long long flight) except? -1
    cdef int _note_limit(self, long long prior_nxt) except -1
    cdef bint _tag(self, list blocks, long long ack, long long prior_una) except? -1
    cdef int _dubious(
        self, long long prior_una, long long flight, long long acked, long long now_jiffy,
        list blocks, long long echo, bint sacked, bint no_duplicate
    ) except -1
    cdef int _timed(self, long long acked, long long now_jiffy, long long echo) except -1
    cpdef bint holds_back(self) except? -1
    cdef bint _defers(self, long long free, long long window, long long now_jiffy) except? -1
    cdef bint _acks_late(self) except? -1
    cpdef bint may_send_now(self) except? -1
    cdef int _restart(self, long long now_jiffy) except -1
    cdef int _application_limited(self, long long now_jiffy) except -1
    cdef long long _stage_again(
        self, SkbQueue queue, Endpoint remote, int overhead_bytes, Cpu cpu, long long now_jiffy
    ) except? -1
    cpdef long long stage(
        self, SkbQueue queue, Endpoint remote, int overhead_bytes, Cpu cpu, long long now_jiffy
    ) except? -1
    cpdef bint stage_probe(
        self, SkbQueue queue, Endpoint remote, int overhead_bytes, Cpu cpu
    ) except? -1
    cdef int _append(
        self, SkbQueue queue, Endpoint remote, int overhead_bytes, Cpu cpu, long long seq,
        long long end_seq, bint push, long long now_jiffy
    ) except -1
    cpdef long long timer_due(self, long long now_jiffy) except? -1
    cpdef bint overdue(self, long long now_jiffy) except? -1
    cpdef bint timer_expired(self, long long now_jiffy) except? -1
    cdef int _rtt_sample(self, long long rtt) except -1
    cdef int _take_rtt(self, long long rtt_us) except -1
    cdef int _tell_recovery(self) except -1
    cdef long long _start_of(self, long long number) except? -1
    cdef int _sample_us(self, long long acked, long long echo) except -1
    cdef int _stamp(self, long long number) except -1
    cdef long long _sent_with_sack(
        self, long long prior_nxt, bint alone, SkbQueue queue, Endpoint remote, int overhead_bytes,
        Cpu cpu, long long now_jiffy
    ) except? -1
    cdef long long _rto_left_us(self) except? -1
    cdef int _rearm(self, long long now_jiffy) except -1
    cdef bint _schedule_loss_probe(self, long long now_jiffy, long long rto_left_us) except? -1
    cdef long long _stage_loss_probe(
        self, SkbQueue queue, Endpoint remote, int overhead_bytes, Cpu cpu, long long now_jiffy
    ) except? -1
    cdef int _overtaken(
        self, list blocks, long long ack, long long now_jiffy, long long echo
    ) except -1
    cdef long long _acknowledge_with_sack(
        self, long long prior_una, long long before, long long now_jiffy, list blocks,
        long long echo, bint news
    ) except? -1
    cdef int _set_timer(self, long long now_jiffy) except -1
    cdef bint _early_timer(self, long long now_jiffy) except? -1
