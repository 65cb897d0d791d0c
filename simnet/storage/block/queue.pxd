from simnet.storage.block.limit cimport RequestLimit
from simnet.storage.block.request cimport Bio, Request
from simnet.storage.disk.command cimport Command

cdef class RequestQueue(RequestLimit):
    cdef public object target
    cdef public long long max_hw_sectors
    cdef public long long depth
    cdef public long long kblockd_ps
    cdef public long long read_ahead_kb
    cdef public object run_starved
    cdef public object times
    cdef public long long unplug_threshold
    cdef public long long unplug_jiffies
    cdef public long long end_sector
    cdef public Request boundary
    cdef public bint plugged
    cdef public long long busy
    cdef public long long in_driver
    cdef long long _unplug_event
    cdef bint _unplugging
    cdef bint _working
    cpdef void on_event(self, int kind, long long arg) except *
    cpdef bint submit(self, Bio bio, object resume=*) except -1
    cpdef int plug(self) except -1
    cpdef bint empty(self) except -1
    cdef Request _next(self)
    cdef int _requeue(self, Request request) except -1
