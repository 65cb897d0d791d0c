from simnet.net.link.skb cimport Skb
from simnet.net.virtio.backend cimport Backend
from simnet.net.virtio.bridge cimport BridgePort, hash_of

cdef class Tap(BridgePort):
    cdef readonly list workers
    cdef dict flows
    cpdef int learn(self, Skb skb, Backend worker) except -1
    cpdef Backend worker(self, Skb skb)
