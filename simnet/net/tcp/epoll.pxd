cimport cython

from simnet.host.costs cimport Costs
from simnet.host.cpu cimport Cpu
from simnet.host.memory cimport Memory, SharedLines
from simnet.host.scheduler cimport Task

cdef class Epoll

cdef class EpollItem:
    cdef readonly Epoll epoll
    cdef EpollItem following
    cdef readonly bint listed
    cpdef long long callback(self, Cpu cpu) except? -1
    cpdef bint has_events(self) except? -1

cdef class Epoll:
    cdef readonly Costs costs
    cdef Memory memory
    cdef readonly SharedLines lines
    cdef int runqueue_lines
    cdef public Task worker
    cdef public bint waiting
    cdef EpollItem first
    cdef EpollItem last
    cdef readonly long long length
    cdef readonly long long callbacks
    cpdef long long ready(self, EpollItem item, Cpu cpu) except? -1
    cpdef long long touch(self, Cpu cpu) except? -1
    cpdef EpollItem take(self)
