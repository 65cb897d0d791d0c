from simnet.kernel.sentinel cimport NONE
from simnet.net.tcp.send.sequence cimport SendSequence

cdef class Undo:
    cdef SendSequence seq
    cdef readonly long long marker
    cdef readonly long long retrans

    cdef int init(self, SendSequence seq) except -1
    cpdef int mark(self, long long retrans) except -1
    cpdef int forget(self) except -1
    cdef int resent(self) except -1
    cpdef int count_resent(self) except -1
    cdef int came_twice(self) except -1
    cpdef int found_needless(self, long long count) except -1
