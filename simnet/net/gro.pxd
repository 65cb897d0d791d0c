from simnet.net.link.skb cimport Skb, SkbQueue

cdef class Gro:
    cdef readonly bint enabled
    cdef bint oldest_leaves
    cdef int normal_batch
    cdef bint counts_segments
    cdef int mask
    cdef list buckets
    cdef readonly int held
    cdef readonly SkbQueue up
    cdef long long collected
    cdef readonly long long merged
    cpdef bint absorbs(self, Skb skb) except? -1
    cpdef int receive(self, Skb skb, long long jiffy) except -1
    cpdef int flush(self, long long jiffy) except -1
    cpdef bint due(self) except? -1
    cpdef Skb take(self)
    cdef SkbQueue _bucket(self, Skb skb)
    cdef int _release(self, SkbQueue bucket, Skb wanted) except -1
    cdef int _collect(self, Skb skb) except -1
    cdef long long _weight(self, Skb skb) except? -1
