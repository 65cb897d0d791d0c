from simnet.kernel.component cimport Component
from simnet.storage.block.request cimport Bio, Request
from simnet.storage.block.sort_list cimport MergeHash, SortList

cpdef Request nearer(Request first, Request second, long long last, long long back_sectors, long long back_penalty)
cdef long long _distance(Request request, long long last, long long back_sectors, long long back_penalty)

cdef class ScheduledQueue(Component):
    cdef readonly long long hz
    cdef readonly long long jiffy_ps
    cdef public list head
    cdef dict _timers
    cpdef long long jiffies(self) except? -1
    cpdef int set_timer(self, int number, long long jiffy) except -1
    cpdef int set_timer_at(self, int number, long long at_ps) except -1
    cpdef bint delete_timer(self, int number) except -1
    cpdef int schedule_work(self) except -1
    cpdef int dispatch_sort(self, Request request) except -1
    cpdef int dispatch_tail(self, Request request) except -1
    cpdef bint remove_plug(self) except -1
    cpdef int run(self) except -1

cdef class Elevator:
    cdef public ScheduledQueue q
    cdef public dict values
    cdef MergeHash hash
    cpdef Request merge(self, Bio bio)
    cpdef SortList behind(self, Bio bio)
    cpdef bint may_merge(self, Request request, Bio bio) except -1
    cpdef int merged(self, Request request) except -1
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
    cpdef int allocated(self, Request request) except -1
    cpdef int freed(self, Request request) except -1
    cpdef int timer(self, int number) except -1
    cpdef int work(self) except -1
