from simnet.storage.block.elevator cimport Elevator
from simnet.storage.block.request cimport Request

cdef class Noop(Elevator):
    cdef public list waiting
    cpdef int merged(self, Request request) except -1
    cpdef int merged_requests(self, Request request, Request following) except -1
    cpdef long long dispatch(self, bint force=*) except -1
    cpdef int add(self, Request request) except -1
    cpdef bint empty(self) except -1
    cpdef Request former(self, Request request)
    cpdef Request latter(self, Request request)
