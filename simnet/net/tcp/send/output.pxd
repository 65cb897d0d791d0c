from simnet.host.cpu cimport Cpu
from simnet.kernel.sentinel cimport NEVER, NONE
from simnet.net.link.skb cimport Skb, SkbQueue, new_skb
from simnet.net.tcp.congestion.control cimport Congestion
from simnet.net.tcp.recovery.recovery cimport OPEN, Recovery
from simnet.net.tcp.recovery.sack_recovery cimport SackRecovery
from simnet.net.tcp.recovery.scoreboard cimport Scoreboard
from simnet.net.tcp.rules.sender_version cimport SenderRules
from simnet.net.tcp.send.sequence cimport SendSequence
from simnet.net.tcp.send.small_queue cimport SmallQueue
from simnet.net.tcp.send.timer cimport SendTimer
from simnet.net.tcp.send.validation cimport WindowValidation

cdef class SendOutput:
    cdef Recovery recovery
    cdef SackRecovery sacks
    cdef WindowValidation validation
    cdef SendSequence seq
    cdef Scoreboard board
    cdef SendTimer timer
    cdef Congestion congestion
    cdef long long small_end
    cdef long long unsent_jiffy
    cdef public SmallQueue small_queue
    cdef bint tail_joins
    cdef bint joined
    cdef bint begins
    cdef readonly long long segments
    cdef public long long nagle_limit
    cdef readonly int burst_left
    cdef public int overhead_bytes
    cdef bint deferred_limited
    cdef public bint nodelay
    cdef public bint cork
    cdef readonly bint tso
    cdef readonly bint timestamps
    cdef int tso_win_divisor
    cdef bint minshall
    cdef bint defers_two_ticks
    cdef bint defers_briefly
    cdef readonly int stalls
    cdef long long deferred_jiffy
    cdef long long last_sent_us
    cdef readonly long long retransmissions
    cdef readonly long long stalled_jiffies

    cdef int init(
        self, Recovery recovery, WindowValidation validation, SenderRules rules, bint tso,
        int tso_win_divisor, bint timestamps
    ) except -1
    cdef long long _next_segment(self, long long now_jiffy) except? -1
    cdef long long _probe_bytes(self, long long window) except? -1
    cdef bint _waits_below(self, long long length) except? -1
    cdef long long _goal_segments(self) except? -1
    cdef bint _too_small(self, long long length) except? -1
    cdef bint _holds_back(self) except? -1
    cdef bint _defers(self, long long free, long long window, long long now_jiffy) except? -1
    cdef bint _acks_late(self) except? -1
    cdef bint may_send_now(self) except? -1
    cpdef long long stage(
        self, SkbQueue queue, Cpu cpu, long long now_jiffy
    ) except? -1
    cdef int _note_unsent(self, long long prior_nxt, long long now_jiffy) except -1
    cdef int _send(
        self, SkbQueue queue, Cpu cpu, long long length,
        long long now_jiffy
    ) except -1
    cdef int _append(
        self, SkbQueue queue, Cpu cpu, long long seq,
        long long end_seq, bint push, long long now_jiffy
    ) except -1
    cdef long long _stage_again(
        self, SkbQueue queue, Cpu cpu, long long now_jiffy
    ) except? -1
    cdef long long _start_of(self, long long number) except? -1
    cdef long long _sent_with_sack(
        self, long long prior_nxt, bint alone, SkbQueue queue,
        Cpu cpu, long long now_jiffy
    ) except? -1
    cdef long long _stage_loss_probe(
        self, SkbQueue queue, Cpu cpu, long long now_jiffy
    ) except? -1
    cpdef bint stage_probe(
        self, SkbQueue queue, Cpu cpu
    ) except? -1
    cdef int timed_out(self) except -1
