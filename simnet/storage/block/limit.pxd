from simnet.storage.block.merging cimport MergingQueue
from simnet.storage.block.request cimport Bio, IoContext, Request

cdef class RequestLimit(MergingQueue):
    cdef public object switching
    cdef public long long wakeup_ps
    cdef public list count
    cdef public list full
    cdef public list congested
    cdef public tuple sleepers
    cdef public object woken
    cdef public list uncongested
    cdef public long long elvpriv
    cdef public long long waits
    cdef public long long nr_requests
    cdef public long long congestion_on
    cdef public long long congestion_off
    cpdef int insert(self, Request request) except -1
    cpdef int unplug(self) except -1
    cdef bint _batching(self, IoContext context) except -1
    cpdef Request get_request(self, Bio bio)
    cdef int _freed(self, int rw) except -1
