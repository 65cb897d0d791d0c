from simnet.net.link.skb cimport Skb
from simnet.net.tcp.ecn cimport Ecn
from simnet.net.tcp.receive.compression cimport AckCompression
from simnet.net.tcp.receive.delayed_ack cimport DelayedAck
from simnet.net.tcp.receive.memory cimport ReceiveMemory
from simnet.net.tcp.receive.queue cimport ReceiveQueue, SkbSizes
from simnet.net.tcp.receive.reassembly cimport Reassembly
from simnet.net.tcp.receive.sequence cimport ReceiveSequence
from simnet.net.tcp.receive.settings cimport ReceiverSettings
from simnet.net.tcp.receive.window cimport ReceiveWindow
from simnet.net.tcp.rules.receiver_version cimport ReceiverRules

cdef class TcpReceiver:
    cdef readonly ReceiveSequence seq
    cdef readonly DelayedAck delack
    cdef readonly AckCompression compression
    cdef readonly ReceiveWindow window
    cdef readonly Reassembly held
    cdef ReceiveQueue queue
    cdef readonly SkbSizes sizes
    cdef readonly ReceiveMemory memory
    cdef public Ecn ecn
    cdef readonly long long segments
    cdef bint predicts
    cdef readonly bint sack
    cdef int most_blocks
    cdef bint measures_rtt
    cdef public long long now_us
    cdef readonly long long duplicates
    cdef readonly long long out_of_order_segments
    cdef bint rule_measures_reordered
    cdef bint rule_quick_on_reorder
    cdef bint rule_filled_at_once
    cdef bint rule_grows_reordered
    cdef readonly bint rule_clock_us
    cdef bint rule_strict_window
    cdef bint rule_coalesces
    cdef int first_segment
    cdef readonly bint coalesces_backlog

    cdef int init(self, ReceiverSettings settings) except -1
    cdef long long offered_by_syn(self) except? -1
    cpdef long long readable(self) except? -1
    cpdef bint segment(self, long long seq, long long end_seq, bint push, bint direct, long long now_jiffy) except? -1
    cdef int _queue(self, long long seq, long long end_seq, bint direct) except -1
    cdef bint _accepted(self, long long seq, long long end_seq) except? -1
    cdef bint _memory_left(self, long long seq) except? -1
    cdef bint _refused(self) except? -1
    cdef bint _unacceptable(self, long long seq, long long end_seq) except? -1
    cdef bint _out_of_window(self) except? -1
    cdef bint _reordered(self, long long seq, long long end_seq, bint push) except? -1
    cdef int _slow_path(self) except -1
    cdef int _event_data(self, long long length, bint push, long long now_jiffy) except -1
    cdef int _check_marks(self) except -1
    cpdef int marked(self, int bits, bint with_data) except -1
    cpdef long long ack_sent(self) except? -1
    cpdef int fill_sack(self, Skb skb, bint dsack) except -1
    cpdef int copied(self, long long count, long long now_jiffy) except -1
    cpdef int space_adjust(self, long long now_jiffy) except -1

cpdef TcpReceiver new_receiver(ReceiverSettings settings)
