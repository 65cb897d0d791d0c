from simnet.kernel.component cimport Component
from simnet.kernel.random cimport RandomStream
from simnet.kernel.sentinel cimport NONE
from simnet.net.infiniband.fabric_link cimport Link
from simnet.net.link.skb cimport Skb
from simnet.net.link.wire cimport Path, Port

cdef class Fabric
cdef class FabricPath

cdef class Hop:
    cdef readonly Link link
    cdef readonly list following

cdef class Transit:
    cdef Skb skb
    cdef FabricPath path
    cdef Hop hop
    cdef long long tail_ps
    cdef long long next_free

cdef class FabricPath(Path):
    cdef readonly Fabric fabric
    cdef readonly Hop first
    cdef readonly long long packets
    cdef readonly long long bytes
    cdef public long long delivered

cdef class Fabric(Component):
    cdef object graph
    cdef readonly dict links
    cdef readonly long long latency_ps
    cdef readonly int routing
    cdef readonly int routes
    cdef readonly bint cut_through
    cdef readonly bint per_frame
    cdef RandomStream luck
    cdef list transits
    cdef long long free
    cdef readonly long long in_flight
    cpdef int inject(self, Skb skb, long long tx_end_ps, FabricPath path) except -1
    cpdef void on_event(self, int kind, long long arg) except *
    cdef int _forward(self, long long slot, Transit transit) except -1
    cdef Hop _choose(self, list following, long long now)
    cdef int _arrives(self, long long slot, Transit transit) except -1
    cdef int _announce(self, long long slot, Transit transit) except -1
