from simnet.net.link.skb cimport Header, Skb
from simnet.net.steering.flow_hash cimport connection_hash
from simnet.net.virtio.backend cimport Backend

cdef class Tap:
    cdef readonly list workers
    cdef dict flows

    cpdef int learn(self, Skb skb, Backend worker) except -1
    cpdef Backend worker(self, Skb skb)
