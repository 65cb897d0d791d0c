from simnet.host.costs cimport Costs, Spread
from simnet.kernel.histogram cimport LogHistogram
from simnet.kernel.priority cimport CPU
from simnet.kernel.sentinel cimport NONE
from simnet.net.tcp.jiffy_timer cimport JiffyTimer
from simnet.net.remote.link cimport RemoteLink
from simnet.net.link.skb cimport Endpoint, Skb, SkbQueue, new_skb
from simnet.net.tcp.receive.receiver cimport TcpReceiver
from simnet.net.link.wire cimport Port

cdef class RemoteReceiver(Port):
    cdef readonly TcpReceiver receiver
    cdef readonly RemoteLink link
    cdef public Endpoint acknowledged
    cdef public Endpoint neighbour
    cdef Costs costs
    cdef public Spread poll_spread
    cdef public Spread read_spread
    cdef SkbQueue prequeue
    cdef Skb reading
    cdef long long left_ps
    cdef long long irq_ps
    cdef long long wake_ps
    cdef long long ack_ps
    cdef long long softirq_frame_ps
    cdef long long reader_frame_ps
    cdef long long throttle_ps
    cdef long long jiffy_ps
    cdef int ack_bytes
    cdef bint working
    cdef bint polling
    cdef bint asleep
    cdef bint unsure
    cdef bint ack_due
    cdef long long copied
    cdef long long free_ps
    cdef long long last_irq_ps
    cdef JiffyTimer delack
    cdef readonly LogHistogram latency
    cdef list taken
    cdef readonly long long interrupts
    cdef readonly long long busy_ps
    cdef long long delivered_bytes
    cdef readonly long long acks_sent
    cdef long long ts_recent

    cdef bint _owned(self) except? -1
    cdef bint _idle_at(self, long long time_ps) except? -1
    cdef bint _ack_after_copy(self) except? -1
    cdef int _settle(self) except -1
    cdef long long _irq_at(self, Skb skb) except? -1
    cdef int _work(self) except -1
    cdef int _look_at(self, long long time_ps) except -1
    cdef bint _arp(self) except? -1
    cdef bint _arp_next(self) except? -1
    cdef bint _take_arp(self) except? -1
    cdef bint _interrupted(self) except? -1
    cdef bint _interrupt(self) except? -1
    cdef bint _poll(self) except? -1
    cdef bint _read(self) except? -1
    cdef int _begin_read(self) except -1
    cdef int _end_read(self) except -1
    cdef int _take(self, Skb skb, long long done_ps) except -1
    cdef int _acknowledge(self) except -1
    cdef int _delack_timer(self) except -1
    cpdef void on_event(self, int kind, long long arg) except *
