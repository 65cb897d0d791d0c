from simnet.storage.block.request cimport Bio, IoContext, Request
from simnet.storage.block.sort_list cimport SortList
from simnet.storage.multiqueue.bfq_queue cimport BfqQueue, ServiceTree
from simnet.storage.multiqueue.request cimport MqRequest
from simnet.storage.multiqueue.scheduler cimport MqScheduler

cdef class Bfq(MqScheduler):
    cdef readonly list trees
    cdef readonly dict queues
    cdef readonly BfqQueue in_service
    cdef readonly long long waiting
    cdef long long last_position
    cdef readonly list expired
    cdef long long slice_idle_ps
    cdef long long timeout
    cdef long long max_budget
    cdef long long fifo_expire
    cdef long long back_sectors
    cdef long long back_penalty
    cpdef SortList behind(self, Bio bio)
    cpdef bint may_merge(self, Request request, Bio bio) except -1
    cpdef int resort(self, Request request) except -1
    cpdef int merged_requests(self, Request request, Request following) except -1
    cpdef Request former(self, Request request)
    cpdef Request latter(self, Request request)
    cpdef int timer(self, int number) except -1
