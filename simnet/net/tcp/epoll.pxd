cimport cython

from simnet.host.costs cimport Costs
from simnet.host.cpu cimport Cpu
from simnet.host.memory cimport SharedLines
from simnet.host.scheduler cimport Task
from simnet.host.softirq.napi_instance cimport NapiInstance
from simnet.net.tcp.wakeups cimport Wakeups

cdef class Epoll

cdef class EpollItem:
    cdef readonly Epoll epoll
    cdef EpollItem following
    cdef readonly bint listed
    cdef public NapiInstance napi
    cpdef long long callback(self, Cpu cpu) except? -1
    cpdef bint has_events(self) except? -1
    cpdef int disconnect(self) except -1

cdef class Epoll:
    cdef readonly Costs costs
    cdef readonly SharedLines lines
    cdef Wakeups wakeups
    cdef readonly bint edge_triggered
    cdef public long long busy_poll_usecs
    cdef public int busy_poll_budget
    cdef public bint prefer_busy_poll
    cdef public NapiInstance napi
    cdef public Task worker
    cdef public bint waiting
    cdef EpollItem first
    cdef EpollItem last
    cdef readonly long long length
    cdef readonly long long callbacks
    cpdef long long ready(self, EpollItem item, Cpu cpu) except? -1
    cpdef long long touch(self, Cpu cpu) except? -1
    cpdef bint busy_polls(self) except -1
    cpdef bint busy_poll_over(self, long long from_ps, long long now) except -1
    cdef int _link(self, EpollItem item) except -1
    cpdef long long harvest(self, list ready, long long most) except? -1
