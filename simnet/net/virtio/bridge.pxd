from simnet.net.link.skb cimport Header, Skb
from simnet.net.steering.flow_hash cimport connection_hash

cdef class BridgePort:
    cpdef bint sleeps(self, Skb skb) except -1
    cpdef int enqueue(self, Skb skb) except -1

cpdef long long hash_of(Header header) except? -1
