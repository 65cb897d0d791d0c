from simnet.storage.block.diskstats cimport DiskStats
from simnet.storage.block.elevator cimport Elevator, ScheduledQueue
from simnet.storage.block.request cimport Bio, Request

cdef class MergingQueue(ScheduledQueue):
    cdef public DiskStats stats
    cdef public Elevator elevator
    cdef public Request last_merge
    cdef public long long max_sectors
    cdef public long long max_segments
    cdef public int nomerges
    cpdef int free(self, Request request) except -1
    cpdef bint merge(self, Bio bio) except -1
    cdef bint _fits(self, Request request, Bio bio) except -1
    cdef bint _join(self, Request request, Request following) except -1
