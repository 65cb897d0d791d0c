from simnet.kernel.sentinel cimport NONE
from simnet.net.tcp.receive.compression cimport AckCompression
from simnet.net.tcp.receive.queue cimport ReceiveQueue
from simnet.net.tcp.receive.reassembly cimport Reassembly
from simnet.net.tcp.receive.sequence cimport ReceiveSequence
from simnet.net.tcp.receive.window cimport ReceiveWindow
from simnet.net.tcp.rules.receiver_version cimport ReceiverRules

cdef class DelayedAck:
    cdef readonly bint scheduled
    cdef bint bare
    cdef readonly bint pushed
    cdef readonly bint pushed_twice
    cdef public bint blocked
    cdef readonly bint ack_now
    cdef readonly bint no_memory
    cdef readonly bint pingpong
    cdef readonly int quick
    cdef int answers
    cdef readonly long long ato
    cdef public long long timeout_jiffy
    cdef readonly long long rcv_mss
    cdef long long lrcvtime
    cdef long long last_small
    cdef int unacknowledged
    cdef readonly int segments_per_ack
    cdef readonly bint quickack
    cdef ReceiveSequence seq
    cdef ReceiveWindow window
    cdef Reassembly held
    cdef ReceiveQueue queue
    cdef AckCompression compression
    cdef readonly long long ato_min
    cdef readonly long long rto_jiffies
    cdef readonly long long delack_min
    cdef readonly long long delack_max
    cdef readonly long long delack_limit
    cdef readonly long long srtt_jiffies
    cdef readonly long long scan_jiffies
    cdef long long advmss
    cdef long long min_rcvmss
    cdef long long option_bytes
    cdef readonly int max_quickacks
    cdef readonly int pingpong_threshold
    cdef bint rule_rounds_current
    cdef bint rule_counts_scheduled
    cdef bint rule_pushed_full
    cdef bint rule_pushed_twice
    cdef bint rule_mss_clamped
    cdef bint rule_blocks_timer
    cdef readonly bint defers_timer
    cdef readonly int timer_jiffies
    cdef readonly int delayed_acks
    cdef readonly int quick_acks

    cdef int init(
        self, ReceiverRules rules, object timing, ReceiveSequence seq, ReceiveWindow window,
        AckCompression compression, int max_quickacks, long long min_rcvmss,
        long long option_bytes, bint quickack
    ) except -1
    cdef int schedule_ack(self) except -1
    cdef int answer(self) except -1
    cdef int send_now(self) except -1
    cdef int memory_ran_out(self, bint closes) except -1
    cdef int event_data(self, long long length, bint push, long long now_jiffy) except -1
    cdef int measure_mss(self, long long length, bint push) except -1
    cdef int _add_quickacks(self, int most) except -1
    cdef int enter_quickack(self, int most) except -1
    cdef int window_grown(self) except -1
    cdef int stop_quickacks(self) except -1
    cdef int leave_pingpong(self) except -1
    cpdef long long select_window(self) except? -1
    cdef bint due(self) except? -1
    cpdef bint holds(self, long long seq, long long end_seq) except? -1
    cpdef bint due_after_copy(self, long long copied) except? -1
    cdef long long sent(self) except? -1
    cpdef int data_sent(self, long long now_jiffy) except -1
    cpdef long long schedule_timer(self, long long now_jiffy) except? -1
    cpdef bint expired(self) except? -1
    cpdef int found_owned(self) except -1
