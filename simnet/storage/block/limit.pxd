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
