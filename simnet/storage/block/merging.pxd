from simnet.kernel.component cimport Component
from simnet.storage.block.diskstats cimport DiskStats
from simnet.storage.block.request cimport Bio, Request

cdef class MergingQueue(Component):
    cdef readonly long long hz
    cdef readonly long long jiffy_ps
    cdef public DiskStats stats
    cdef public object elevator
    cdef public Request last_merge
    cdef public long long max_sectors
    cdef public long long max_segments
    cdef public int nomerges
