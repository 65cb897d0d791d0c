from simnet.kernel.component cimport Component
from simnet.host.cpu cimport Cpu
from simnet.host.softirq.softirq cimport Napi
from simnet.net.link.skb cimport Skb, SkbQueue

cdef class Serializer:
    cdef readonly long long byte_ps
    cdef long long free_ps
    cpdef long long end_ps(self, long long now, long long wire_bytes) except? -1

cdef class Port(Napi):
    cdef readonly int node
    cdef public bint copies
    cdef public long long dma_ps
    cdef public SkbQueue incoming
    cdef int _register_port(self, object sim, str path, int weight, int node) except -1
    cpdef int frames_added(self) except -1
    cpdef int frames_lost(self) except -1
    cpdef long long drop_in_flight(self, long long now) except? -1
    cpdef int transmit(self, Skb skb) except -1
    cpdef int flush(self) except -1
    cpdef long long transmit_cost_ps(self, Cpu cpu) except? -1
    cpdef long long length_cost_ps(self, Cpu cpu, long long wire_bytes) except? -1

cdef class Path(Component):
    cdef readonly Port destination
    cpdef int send(self, Skb skb, long long tx_end_ps) except -1
    cpdef int flush(self) except -1

cdef class SwitchedPath(Path):
    cdef readonly bint per_frame
    cdef SkbQueue flight
    cdef long long byte_ps
    cdef long long propagation_ps
    cdef long long latency_ps
    cdef long long arrival_ps
    cdef long long egress_free_ps
    cdef readonly long long frames
    cdef readonly long long bytes
    cpdef void on_event(self, int kind, long long arg) except *
