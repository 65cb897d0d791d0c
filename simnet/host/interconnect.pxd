from simnet.host.cpu cimport Cpu
from simnet.kernel.component cimport Component

cdef class Interconnect(Component):
    cdef readonly int buses
    cdef readonly int nodes
    cdef readonly int line_bytes
    cdef int ends
    cdef int carriers
    cdef readonly long long version
    cdef bint awake
    cdef readonly tuple names
    cdef readonly object included
    cdef list cpus
    cdef long long[::1] given_ps
    cdef readonly long long[::1] bandwidth
    cdef long long[::1] service_ps
    cdef long long[::1] bytes
    cdef long long[::1] batched
    cdef readonly long long[::1] batch
    cdef readonly long long[::1] load_ppm
    cdef readonly long long[::1] wait_ps
    cdef readonly long long[::1] carried
    cdef long long[::1] way_ends
    cdef long long[::1] way_carriers
    cdef long long[::1] moved
    cdef long long[::1] moved_batched
    cdef long long[::1] way_wait_ps
    cpdef int move(self, int reader, int place, long long size, long long batch) except -1
    cpdef long long hand_over(self, int bus, int owner, long long lines) except? -1
    cpdef long long wait_for_memory_ps(self, int bus, int node) except? -1
    cpdef int fetch(self, int bus, int node, long long size, long long batch) except -1
    cpdef int transfer(self, int device_node, int node, long long size) except -1
    cdef int _add_up(self) except -1
    cdef bint _price(self) except? -1
    cdef int _set_paces(self) except -1
    cpdef void on_event(self, int kind, long long arg) except *
