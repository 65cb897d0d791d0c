from simnet.storage.block.cfq_queue cimport CfqContext, CfqQueue
from simnet.storage.block.cfq_service cimport CfqService
from simnet.storage.block.request cimport Bio, Request
from simnet.storage.block.sort_list cimport SortList

cdef class Cfq(CfqService):
    cdef public long long rq_in_driver
    cdef public bint hw_tag
    cdef public long long last_sector
    cdef public tuple fifo_expire
    cdef public tuple slice
    cdef long long slice_async_rq
    cdef long long quantum
    cdef long long back_sectors
    cdef long long back_penalty
    cdef Request _choose(self, Request first, Request second)
    cdef Request _find_next(self, CfqQueue queue, Request last)
    cdef bint _arm(self, CfqQueue queue) except -1
    cdef CfqQueue _select(self)
    cdef int _insert_dispatched(self, Request request) except -1
    cdef Request _expired_request(self, CfqQueue queue)
    cdef long long _dispatch_queue(self, CfqQueue queue, long long most) except -1
    cdef int _sort(self, CfqQueue queue, Request request) except -1
    cdef int _enqueued(self, CfqQueue queue, Request request) except -1
    cdef int _update_idle_window(self, CfqQueue queue, CfqContext context) except -1
    cdef bint _should_preempt(self, CfqQueue queue, Request request) except -1
    cdef int _start_queueing(self) except -1
    cdef int _remove(self, Request request) except -1
    cpdef SortList behind(self, Bio bio)
    cpdef int resort(self, Request request) except -1
    cpdef int merged_requests(self, Request request, Request following) except -1
    cpdef long long dispatch(self, bint force=*) except -1
    cpdef int add(self, Request request) except -1
    cpdef bint empty(self) except -1
    cpdef int activate(self, Request request) except -1
    cpdef int deactivate(self, Request request) except -1
    cpdef int completed(self, Request request) except -1
    cpdef Request former(self, Request request)
    cpdef Request latter(self, Request request)
    cpdef bint may_queue(self, Bio bio) except -1
    cpdef int timer(self, int number) except -1
    cpdef int work(self) except -1
