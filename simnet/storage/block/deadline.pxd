from simnet.storage.block.elevator cimport Elevator
from simnet.storage.block.request cimport Bio, Request
from simnet.storage.block.sort_list cimport SortList

cdef class Deadline(Elevator):
    cdef public tuple sort_list
    cdef public tuple fifo
    cdef public list next
    cdef public long long batching
    cdef public long long last_sector
    cdef public long long starved
    cdef public tuple fifo_expire
    cdef public long long writes_starved
    cdef public long long fifo_batch
    cdef public bint front_merges
    cdef int _sort(self, Request request) except -1
    cdef int _unsort(self, Request request) except -1
    cdef int _remove(self, Request request) except -1
    cdef int _direction(self) except -2
    cdef int _move(self, Request request) except -1
    cpdef SortList behind(self, Bio bio)
    cpdef int resort(self, Request request) except -1
    cpdef int merged_requests(self, Request request, Request following) except -1
    cpdef long long dispatch(self, bint force=*) except -1
    cpdef int add(self, Request request) except -1
    cpdef bint empty(self) except -1
    cpdef Request former(self, Request request)
    cpdef Request latter(self, Request request)
