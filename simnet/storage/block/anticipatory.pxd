from simnet.storage.block.anticipation cimport Anticipation
from simnet.storage.block.process_history cimport ProcessHistory
from simnet.storage.block.request cimport Bio, Request
from simnet.storage.block.sort_list cimport SortList

cdef class Anticipatory(Anticipation):
    cdef public tuple sort_list
    cdef public tuple fifo
    cdef public list next
    cdef public list last_check_fifo
    cdef public tuple fifo_expire
    cdef public tuple batch_expire
    cdef public bint changed_batch
    cdef public bint new_batch
    cdef public bint write_batch_idled
    cdef public long long nr_dispatched
    cdef public long long current_write_count
    cdef public long long current_batch_expires
    cdef public long long write_batch_count
    cdef Request _choose(self, Request first, Request second)
    cdef Request _find_next(self, Request last)
    cpdef int _update_write_batch(self) except -1
    cdef bint _fifo_expired(self, int kind) except -1
    cdef bint _batch_expired(self) except -1
    cdef int _move(self, Request request) except -1
    cdef long long _dispatch_all(self) except -1
    cdef Request _new_batch(self, bint reads, bint writes)
    cdef Request _oldest_if_expired(self, Request request)
    cdef long long _begin(self, Request request) except -1
    cdef int _sort(self, Request request) except -1
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
