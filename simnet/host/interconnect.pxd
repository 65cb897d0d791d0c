from simnet.host.cpu cimport Cpu
from simnet.kernel.component cimport Component

cdef class Interconnect(Component):
    cdef readonly int buses
    cdef readonly int nodes
    cdef readonly int line_bytes
    cdef int[::1] bus_nodes
    cdef int burst_lines
    cdef int carriers
    cdef int first_link
    cdef readonly long long version
    cdef bint awake
    cdef readonly tuple names
    cdef readonly object included
    cdef long long stall_permille
    cdef long long included_line_ps
    cdef long long included_late_ps
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
    cdef long long[::1] pair_ends
    cdef long long[::1] pair_links
    cdef long long[::1] moved
    cdef long long[::1] moved_batched
    cdef long long[::1] pair_wait_ps
    cdef long long all_waits_ps
    cpdef long long hand_over(self, int bus, int owner, long long lines) except? -1
    cpdef long long wait_for_memory_ps(self, int bus, int node) except? -1
    cpdef int fetch(self, int bus, int node, long long size, long long batch) except -1
    cpdef int transfer(self, int device_node, int node, long long size) except -1
    cdef int _move(self, int bus, int near, int place, int far, long long size, long long batch) except -1
    cdef long long _wait(self, int bus, int near, int place, int far) except? -1
    cdef int _add_up(self) except -1
    cdef int _add_up_waits(self) except -1
    cdef bint _price(self) except? -1
    cdef int _set_paces(self) except -1
    cpdef void on_event(self, int kind, long long arg) except *
