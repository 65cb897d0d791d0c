from simnet.kernel.priority cimport WIRE
from simnet.kernel.random cimport RandomStream
from simnet.net.link.skb cimport Endpoint, Skb, SkbQueue, Uplink

cdef class LossyPath(Uplink):
    cdef public Endpoint destination
    cdef RandomStream stream
    cdef public object element
    cdef public object numbers
    cdef long long byte_ps
    cdef long long delay_ps
    cdef long long queue_ps
    cdef long long loss_ppb
    cdef long long late_ppb
    cdef long long late_ps
    cdef long long free_ps
    cdef SkbQueue flight
    cdef SkbQueue late_flight
    cdef readonly long long sent
    cdef readonly long long dropped
    cdef readonly long long lost
    cdef readonly long long late

    cdef int _deliver(self) except -1
    cpdef void on_event(self, int kind, long long arg) except *
