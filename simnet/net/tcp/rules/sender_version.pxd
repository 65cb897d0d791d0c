cimport cython

@cython.final
cdef class SenderRules:
    cdef readonly bint fack
    cdef readonly bint counts_sacked
    cdef readonly bint head_timeout
    cdef readonly bint head_timeout_fack
    cdef readonly bint ack_shows_reordering
    cdef readonly bint dsack_goes_for_all
    cdef readonly bint forward_retransmit
    cdef readonly long long reduction
    cdef readonly bint newreno
    cdef readonly bint rack
    cdef readonly long long rack_margin_us
    cdef readonly bint clock_us
    cdef readonly bint moderates_open
    cdef readonly bint frto
    cdef readonly bint near_limit
    cdef readonly bint defers_two_ticks
    cdef readonly bint defers_briefly
    cdef readonly long long max_reordering
    cdef readonly bint bic_start
    cdef readonly bint delayed_ack
    cdef readonly bint hystart
    cdef readonly bint minshall
    cdef readonly bint half_window
    cdef readonly long long whole_window_bytes
    cdef readonly bint counts_slow_start
    cdef readonly bint counts_segments
    cdef readonly bint slow_start_below
    cdef readonly bint limited_when_sent
    cdef readonly bint keeps_limit
    cdef readonly bint always_gso
    cdef readonly bint keeps_handshake
    cdef readonly long long limit_output_bytes
    cdef readonly long long tso_rtt_log
    cdef readonly long long min_tso_segs
    cdef readonly bint autocorking
    cdef readonly long long pacing_ss_ratio
    cdef readonly long long pacing_ca_ratio
    cdef readonly long long single_passes
