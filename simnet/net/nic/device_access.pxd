from simnet.host.cpu cimport Cpu
from simnet.host.interconnect cimport Interconnect
from simnet.host.memory cimport Memory

cdef class DeviceAccess:
    cdef Memory memory
    cdef Interconnect interconnect
    cdef int node
    cdef int descriptor_bytes
    cdef int line_bytes
    cdef int bus
    cdef long long version
    cdef long long mmio_ps
    cdef long long near_mmio_ps
    cdef long long far_mmio_ps
    cdef long long far_line_ps
    cdef long long far_header_ps
    cdef long long far_frame_ps
    cdef long long moved_bytes
    cdef long long moved_frames

    cpdef int use_from(self, Cpu cpu) except -1
    cpdef int count_moved(
        self, Cpu cpu, int buffer_node, long long frames, long long size
    ) except -1
