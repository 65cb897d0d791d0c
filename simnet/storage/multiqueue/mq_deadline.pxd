from simnet.storage.block.request cimport Bio, IoContext, Request
from simnet.storage.block.sort_list cimport SortList
from simnet.storage.multiqueue.request cimport MqRequest
from simnet.storage.multiqueue.scheduler cimport MqScheduler

cdef class PerPriority:
    cdef public tuple sort_list
    cdef public tuple fifo
    cdef public list latest_pos
    cdef public long long queued

cdef class MqDeadline(MqScheduler):
    cdef readonly list per_prio
    cdef readonly long long waiting
    cdef int last_dir
    cdef readonly long long batching
    cdef readonly long long starved
    cdef tuple fifo_expire
    cdef long long writes_starved
    cdef bint front_merges
    cdef long long fifo_batch
    cdef long long aging
    cdef MqRequest _dispatch(self, PerPriority mine, long long latest_start, long long now)
    cdef int _direction(self, PerPriority mine) except -2
    cdef int _remove(self, PerPriority mine, Request request) except -1
    cpdef PerPriority _of(self, IoContext context)
    cdef SortList _sorted(self, Request request)
    cpdef SortList behind(self, Bio bio)
    cpdef bint may_merge(self, Request request, Bio bio) except -1
    cpdef int resort(self, Request request) except -1
    cpdef int merged_requests(self, Request request, Request following) except -1
    cpdef Request former(self, Request request)
    cpdef Request latter(self, Request request)
