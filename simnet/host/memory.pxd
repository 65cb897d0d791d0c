from simnet.host.cache cimport CacheWays
from simnet.host.cpu cimport Cpu
from simnet.host.interconnect cimport Interconnect

cdef class Memory:
    cdef long long included_ps
    cdef readonly Interconnect interconnect
    cdef readonly list caches
    cdef public CacheWays core_cache
    cdef readonly long long same_bus_dirty_ps
    cdef int nodes
    cdef long long[::1] latency
    cdef long long[::1] dirty
    cdef long long[::1] mmio
    cpdef long long dirty_lines_ps(self, Cpu reader, Cpu owner, long long lines) except? -1
    cpdef long long beyond_ps(self, Cpu cpu, int home_node, int writer_node) except? -1
    cpdef int fetched(self, Cpu cpu, int home_node, long long size, long long batch) except -1
    cpdef int transferred(self, int device_node, int home_node, long long size) except -1
    cpdef long long mmio_write_ps(self, int cpu_node, int device_node) except? -1

cdef class SharedLines:
    cdef Memory memory
    cdef readonly int lines
    cdef Cpu owner
    cdef readonly long long transfers
    cpdef long long touch(self, Cpu cpu) except? -1
