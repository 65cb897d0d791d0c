from simnet.storage.block.request cimport Bio, Request
from simnet.storage.multiqueue.request cimport MqRequest
from simnet.storage.multiqueue.scheduler cimport MqScheduler

cdef class Domain:
    cdef readonly long long most
    cdef readonly long long depth
    cdef public long long used
    cdef public list total
    cdef public list io
    cdef long long timeout
    cdef public int p99
    cdef readonly object waiting
    cdef public long long cleared
    cpdef int percentile(self, list buckets, long long percent, long long jiffies, long long hz) except -2

cdef class PerQueue:
    cdef public tuple lists
    cdef public tuple of_cpus
    cdef public int domain
    cdef public long long batching
    cdef public list waits
    cdef int flush(self, int rw) except -1

cdef class Kyber(MqScheduler):
    cdef readonly list domains
    cdef readonly list per_queue
    cdef bint armed
    cdef public list targets_ps
    cdef MqRequest _of_domain(self, PerQueue mine, object hardware)
    cdef int _wake(self, int rw) except -1
    cpdef Request merge(self, Bio bio)
    cpdef int merged(self, Request request) except -1
    cpdef int timer(self, int number) except -1
