cimport cython

from simnet.net.tcp.congestion.control cimport Congestion
from simnet.net.tcp.recovery.newreno cimport NewReno
from simnet.net.tcp.recovery.recovery cimport Recovery
from simnet.net.tcp.send.rtt cimport RttEstimator
from simnet.net.tcp.recovery.sack_recovery cimport SackRecovery
from simnet.net.tcp.recovery.scoreboard cimport Scoreboard

# told here, too, or the classes upon it are tracked after all
@cython.no_gc
cdef class SendState:
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
    cdef int _tell_recovery(self) except -1
