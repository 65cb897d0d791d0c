from simnet.net.tcp.congestion.control cimport Congestion
from simnet.net.tcp.recovery.scoreboard cimport Scoreboard

cdef class Recovery:
    cdef readonly int state
    cdef readonly int frto
    cdef public bint retransmitting
    cdef public long long prr_out
    cdef readonly Scoreboard board
    cdef readonly Congestion congestion
    cdef readonly long long high_seq
    cdef long long prior_ssthresh
    cdef long long retrans_stamp
    cdef readonly int retransmits
    cdef readonly long long frto_high
    cdef long long prior_cwnd
    cdef long long prr_delivered
    cdef bint head_timeout
    cdef bint head_timeout_fack
    cdef bint counts_sacked
    cdef bint forward_retransmit
    cdef int reduction
    cdef bint moderates_open
    cdef bint uses_frto
    cdef readonly long long entered
    cdef readonly long long undone
    cdef readonly long long spurious
    cdef long long now
    cdef long long rto
    cdef long long snd_una
    cdef long long snd_nxt
    cdef public long long delivered
    cdef bint advanced
    cdef long long echo

    cpdef bint may_raise(self) except? -1
    cpdef long long current_ssthresh(self) except? -1
    cpdef int alert(
        self, bint duplicate, bint data_lost, bint data_sacked, long long acked, bint may_send
    ) except -1
    cpdef int see(
        self, long long now, long long rto, long long prior_una, long long snd_una,
        long long snd_nxt, long long delivered, long long echo
    ) except -1
    cdef bint _leave(self) except? -1
    cdef int _complete(self) except -1
    cdef bint _head_timed_out(self) except? -1
    cdef bint _time_to_recover(self, bint may_send) except? -1
    cdef int _enter_recovery(self) except -1
    cdef int _update_scoreboard(self, bint fast) except -1
    cdef int _moderate(self) except -1
    cdef int _reduce(self, bint fast, bint duplicate) except -1
    cdef int _proportional(self, long long flight, bint fast) except -1
    cdef int _try_to_open(self) except -1
    cdef bint _may_undo(self) except? -1
    cdef int _undo_window(self, bint threshold) except -1
    cdef bint _undo_recovery(self) except? -1
    cdef int _undo_dsack(self) except -1
    cdef bint _undo_partial(self, long long acked) except? -1
    cdef bint _undo_loss(self) except? -1
    cpdef int timeout(self, long long snd_una, long long snd_nxt) except -1
    cdef int _lower_threshold(self) except -1
    cdef int _enter_loss(self, bint forget) except -1
    cdef int _renege(self) except -1
    cdef int _enter_frto(self) except -1
    cdef int _frto_loss(self, long long allowed) except -1
    cpdef bint process_frto(
        self, long long acked, long long sacked, bint beyond, bint retrans_acked, bint duplicate,
        bint may_send
    ) except? -1
    cdef int _enter_cwr(self) except -1
    cpdef long long next_retransmission(self, bint may_send) except? -1
    cpdef int resent(self, long long number, long long snd_nxt, long long now) except -1
