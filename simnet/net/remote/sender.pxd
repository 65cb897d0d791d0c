from simnet.host.costs cimport Costs
from simnet.kernel.priority cimport CPU
from simnet.kernel.sentinel cimport NONE
from simnet.net.tcp.jiffy_timer cimport JiffyTimer
from simnet.net.remote.link cimport RemoteLink
from simnet.net.link.skb cimport Endpoint, Skb, SkbQueue
from simnet.net.tcp.send.sender cimport TcpSender
from simnet.net.link.wire cimport Port

cdef class RemoteSender(Port):
    cdef readonly TcpSender sender
    cdef readonly RemoteLink link
    cdef public Endpoint receiver
    cdef public Endpoint neighbour
    cdef Costs costs
    cdef long long mmio_ps
    cdef long long throttle_ps
    cdef long long jiffy_ps
    cdef readonly long long message_bytes
    cdef int job
    cdef int acks
    cdef bint polling
    cdef long long debt_ps
    cdef long long free_ps
    cdef long long last_irq_ps
    cdef bint runnable
    cdef bint waiting
    cdef bint switched
    cdef long long left
    cdef SkbQueue staged
    cdef JiffyTimer rto
    cdef readonly long long interrupts
    cdef readonly long long sends
    cdef readonly long long busy_ps

    cdef int _next_job(self) except -1
    cdef int _serve(self, long long start_ps, int acks) except -1
    cdef int _write(self) except -1
    cdef int _take_ack(self, Skb skb, long long jiffy) except -1
    cdef long long _stage(self, long long jiffy) except? -1
    cdef int _send_staged(self) except -1
    cdef int _arm_rto(self) except -1
    cdef int _retransmission_timer(self) except -1
    cpdef void on_event(self, int kind, long long arg) except *
