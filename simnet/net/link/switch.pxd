from simnet.kernel.component cimport Component
from simnet.kernel.sentinel cimport NEVER
from simnet.net.link.skb cimport Header, EgressPort, Skb, SkbQueue, Station
from simnet.net.link.wire cimport Path, Port

cdef class Egress(EgressPort):
    cdef readonly Port destination
    cdef bint per_frame
    cdef SkbQueue flight
    cdef long long byte_ps
    cdef long long propagation_ps
    cdef readonly long long buffer_bytes
    cdef long long free_ps
    cdef readonly bint up
    cdef long long epoch
    cdef readonly long long offered
    cdef readonly long long frames
    cdef readonly long long bytes
    cdef readonly long long dropped
    cdef readonly long long lost
    cpdef int forward(self, Skb skb) except -1
    cpdef int set_link(self, bint up) except -1
    cpdef void on_event(self, int kind, long long arg) except *

cdef class PortChannel(EgressPort):
    cdef readonly list members
    cdef readonly int method
    cdef readonly long long dropped
    cpdef int forward(self, Skb skb) except -1
    cpdef int bucket(self, Header header) except? -1

cdef class Ingress(Path):
    cdef public EgressPort learns
    cdef public Header header
    cdef SkbQueue flight
    cdef long long delay_ps
    cdef long long latency_ps
    cdef readonly bint up
    cdef long long down_ps
    cdef readonly long long frames
    cdef readonly long long lost
    cdef readonly long long flooded
    cpdef int send(self, Skb skb, long long tx_end_ps) except -1
    cpdef int flush(self) except -1
    cpdef int set_link(self, bint up) except -1
    cpdef void on_event(self, int kind, long long arg) except *
