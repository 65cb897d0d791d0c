from simnet.net.link.skb cimport Skb

cdef class Egress:
    cpdef int enqueue(self, Skb skb) except -1
    cpdef int run(self) except -1
    cpdef int completed(self) except -1
    cpdef int wake(self) except -1
    cpdef long long waiting(self) except? -1
