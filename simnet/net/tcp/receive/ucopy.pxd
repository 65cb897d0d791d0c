from simnet.net.link.skb cimport Skb, SkbQueue

cdef class Ucopy:
    cdef readonly bint installed
    cdef readonly long long room
    cdef readonly SkbQueue prequeue
    cdef readonly long long memory
    cdef readonly long long prequeued

    cpdef int install(self, long long room) except -1
    cpdef int remove(self) except -1
    cdef int copied(self, long long length) except -1
    cdef int append(self, Skb skb, long long truesize) except -1
    cdef int emptied(self) except -1
