from simnet.host.cpu cimport Cpu

cdef class Memory:
    cdef readonly long long local_ps
    cdef readonly long long same_bus_dirty_ps
    cdef readonly long long same_node_dirty_ps
    cdef int nodes
    cdef long long[::1] latency
    cdef long long[::1] dirty
    cdef long long[::1] mmio
    cpdef long long dirty_line_ps(self, Cpu reader, Cpu owner) except? -1
    cpdef long long memory_line_ps(self, int reader_node, int home_node, int writer_node) except? -1
    cpdef long long mmio_write_ps(self, int cpu_node, int device_node) except? -1

cdef class SharedLines:
    cdef Memory memory
    cdef readonly int lines
    cdef Cpu owner
    cdef readonly long long transfers
    cpdef long long touch(self, Cpu cpu) except? -1
