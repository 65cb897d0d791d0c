cimport cython

@cython.final
cdef class ReceiverRules:
    cdef readonly bint pushed_twice
    cdef readonly bint pushed_full
    cdef readonly bint mss_clamped
    cdef readonly bint measures_reordered
    cdef readonly bint quick_on_reorder
    cdef readonly bint compresses
    cdef readonly long long compress_max_ps
    cdef readonly long long compress_slack_ps
    cdef readonly long long compress_most
    cdef readonly bint filled_at_once
    cdef readonly bint counts_scheduled
    cdef readonly long long pingpong_threshold
    cdef readonly bint defers_timer
    cdef readonly bint blocks_timer
    cdef readonly bint timer_rounds_up
    cdef readonly long long adv_win_scale
    cdef readonly long long initial_ratio
    cdef readonly long long first_window_segments
    cdef readonly bint locked_limits_scale
    cdef readonly bint opens_small
    cdef readonly bint zero_window_early
    cdef readonly bint rounds_current
    cdef readonly bint grows_reordered
    cdef readonly bint grows_twice_length
    cdef readonly long long right_sizing
    cdef readonly bint clock_us
    cdef readonly bint strict_window
    cdef readonly bint coalesces
    cdef readonly bint coalesces_backlog
    cdef readonly long long segments_per_ack
    cdef readonly long long scan_jiffies
    cdef readonly bint whole_buffer
    cdef readonly bint collapses
    cdef readonly long long prune_batches
    cdef readonly bint keeps_lower
    cdef readonly long long first_segment
