from simnet.kernel.random cimport RandomStream

cdef class Link:
    cdef readonly str name
    cdef readonly long long byte_ps
    cdef readonly long long propagation_ps
    cdef public long long free_ps
    cdef public long long packets
    cdef public long long bytes
    cdef public long long waited_ps
    cdef public long long longest_ps
    cdef RandomStream background
    cdef long long gap_ps
    cdef long long service_ps
    cdef long long permille
    cdef long long next_ps
    cpdef long long backlog_ps(self, long long now) except? -1
    cdef int _advance_to(self, long long now) except -1
