from simnet.kernel.priority cimport CPU

cimport cython

from simnet.kernel.component cimport Component
from simnet.kernel.histogram cimport LogHistogram
from simnet.kernel.prefetch cimport prefetch, prefetch_item
from simnet.kernel.random cimport RandomStream
from simnet.net.tcp.endpoint cimport Application, TcpEndpoint
from simnet.workload.alias cimport Alias

cdef class Message:
    cdef long long end
    cdef long long created_ps
    cdef Message following

cdef class Deliveries:
    cdef readonly long long offered
    cdef readonly long long delivered
    cdef readonly long long offered_bytes
    cdef readonly long long delivered_bytes
    cdef readonly LogHistogram latency
    cdef readonly long long latency_ps
    cdef readonly long long population_ps
    cdef readonly long long changed_ps
    cdef int _settle(self, long long now) except -1
    cpdef int offer(self, long long size_bytes, long long now) except -1
    cpdef int deliver(self, long long created_ps, long long now) except -1

cdef class RemoteEnd(Application):
    cdef public TcpEndpoint endpoint
    cdef public RemoteEnd other
    cdef readonly Deliveries sends
    cdef readonly Deliveries gets
    cdef Message first
    cdef Message last
    cdef readonly long long created
    cdef readonly long long written
    cdef readonly long long got
    cpdef int create(self, long long size_bytes) except -1

cdef class RelayLoad(Component):
    cdef readonly list ends
    cdef long long clients
    cdef Alias chosen
    cdef long long first
    cdef long long second
    cdef long long third
    cdef Alias size
    cdef list sizes
    cdef Alias upstream_size
    cdef list upstream_sizes
    cdef RandomStream gaps
    cdef readonly long long mean_ps
    cdef readonly long long batch_permille
    cdef readonly long long batches
    cdef bint running
    cdef long long _choose(self) except? -1
    cpdef void on_event(self, int kind, long long arg) except *
