cdef class CpuPool:
    cdef readonly int cpus
    cdef long long[::1] free_ps
    cdef readonly long long busy_ps
    cpdef long long book(self, long long now, long long work_ps) except? -1
