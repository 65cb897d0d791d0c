from simnet.net.tcp.receive.queue cimport ReceiveQueue, SkbSizes
from simnet.net.tcp.receive.window cimport ReceiveWindow
from simnet.net.link.skb cimport Skb
from simnet.net.tcp.ecn cimport Ecn
from simnet.net.tcp.receive.reassembly cimport Reassembly

cdef class TcpReceiver:
    cdef readonly long long rcv_nxt
    cdef readonly long long copied_seq
    cdef readonly long long rcv_wup
    cdef readonly long long rcv_wnd
    cdef public long long timeout_jiffy
    cdef readonly ReceiveWindow window
    cdef readonly Reassembly held
    cdef ReceiveQueue queue
    cdef readonly SkbSizes sizes
    cdef readonly long long rcv_mss
    cdef readonly long long ato
    cdef long long lrcvtime
    cdef long long last_small
    cdef readonly long long segments
    cdef readonly int rcv_wscale
    cdef readonly int quick
    cdef readonly bint pingpong
    cdef readonly bint scheduled
    cdef bint bare
    cdef readonly bint pushed
    cdef readonly bint pushed_twice
    cdef public bint blocked
    cdef readonly bint ack_now
    cdef public Ecn ecn
    cdef readonly bint no_memory
    cdef bint predicts
    cdef readonly int compressed
    cdef readonly bint compress_started
    cdef int unacknowledged
    cdef readonly bint sack
    cdef readonly bint quickack
    cdef int answers
    cdef readonly int pingpong_threshold
    cdef readonly int segments_per_ack
    cdef bint rule_rounds_current
    cdef bint rule_counts_scheduled
    cdef bint rule_strict_window
    cdef bint rule_coalesces
    cdef bint rule_pushed_full
    cdef bint rule_pushed_twice
    cdef bint rule_mss_clamped
    cdef readonly bint rule_clock_us
    cdef bint measures_rtt
    cdef readonly long long delack_min
    cdef readonly long long delack_max
    cdef readonly long long delack_limit
    cdef readonly long long srtt_jiffies
    cdef readonly long long ato_min
    cdef readonly long long rto_jiffies
    cdef long long advmss
    cdef long long min_rcvmss
    cdef long long option_bytes
    cdef readonly long long scan_jiffies
    cdef int duplicate_acks
    cdef long long compressed_at
    cdef public long long now_us
    cdef long long jiffy_ps
    cdef readonly long long srtt_us
    cdef readonly int max_quickacks
    cdef int most_blocks
    cdef readonly long long duplicates
    cdef readonly long long out_of_order_segments
    cdef bint rule_measures_reordered
    cdef bint rule_quick_on_reorder
    cdef bint rule_compresses
    cdef bint rule_filled_at_once
    cdef bint rule_grows_reordered
    cdef bint rule_blocks_timer
    cdef bint rule_collapses
    cdef bint rule_keeps_lower
    cdef int prune_batches
    cdef int first_segment
    cdef long long wasted_memory
    cdef public long long collapsed
    cdef readonly bint defers_timer
    cdef readonly int timer_jiffies
    cdef readonly long long compress_max_ps
    cdef readonly long long compress_slack_ps
    cdef readonly int compress_most

    cpdef long long truesize(self, long long length) except? -1
    cpdef long long readable(self) except? -1
    cdef long long _room(self) except? -1
    cpdef long long select_window(self) except? -1
    cpdef bint acceptable(self, long long seq, long long end_seq) except? -1
    cpdef bint segment(self, long long seq, long long end_seq, bint push, bint direct, long long now_jiffy) except? -1
    cdef int _queue(self, long long seq, long long end_seq, bint direct) except -1
    cdef bint _accepted(self, long long seq, long long end_seq) except? -1
    cdef bint _memory_left(self, long long seq) except? -1
    cdef int _no_memory(self) except -1
    cdef bint _refused(self) except? -1
    cdef bint _unacceptable(self, long long seq, long long end_seq) except? -1
    cdef bint _out_of_window(self) except? -1
    cdef bint _reordered(self, long long seq, long long end_seq, bint push) except? -1
    cdef int _slow_path(self) except -1
    cdef bint _ack_due(self) except? -1
    cpdef long long compress_delay_ps(self) except? -1
    cpdef bint holds_ack(self, long long seq, long long end_seq) except? -1
    cdef int _event_data(self, long long length, bint push, long long now_jiffy) except -1
    cdef int _measure_mss(self, long long length, bint push) except -1
    cdef int _add_quickacks(self, int most) except -1
    cdef int _check_marks(self) except -1
    cpdef int marked(self, int bits, bint with_data) except -1
    cdef int _enter_quickack(self, int most) except -1
    cdef int _leave_pingpong(self) except -1
    cpdef long long ack_sent(self, long long now_jiffy) except? -1
    cpdef int fill_sack(self, Skb skb, bint dsack) except -1
    cpdef int data_sent(self, long long now_jiffy) except -1
    cpdef long long schedule_delack(self, long long now_jiffy) except? -1
    cpdef bint delack_expired(self, long long now_jiffy) except? -1
    cpdef bint ack_due_after_copy(self, long long copied) except? -1
    cpdef int copied(self, long long count, long long now_jiffy) except -1
    cpdef int space_adjust(self, long long now_jiffy) except -1
    cpdef int timer_found_owned(self) except -1
