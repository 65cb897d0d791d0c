from simnet.kernel.component cimport Component
from simnet.kernel.priority cimport WIRE
from simnet.storage.disk.command cimport Command

cdef class Drive(Component):
    cdef readonly object model
    cdef long long size
    cdef long long depth
    cdef long long overhead_ps
    cdef long long bus_free_ps
    cdef dict served
    cdef readonly long long in_disk
    cdef readonly long long commands
    cdef readonly long long read_sectors
    cdef readonly long long written_sectors
    cdef readonly long long command_ps
    cdef readonly long long occupied_ps
    cdef readonly long long residence_ps
    cdef long long _changed_ps
    cdef long long _served_number
    cpdef bint submit(self, Command command) except? -1
    cdef int _begin(self, Command command) except -1
    cdef int _take(self, Command command) except -1
    cdef int _complete_at(self, long long done_ps, Command command, int kind) except -1
    cdef int _complete(self, Command command) except -1
    cdef int _count(self, long long change) except -1
