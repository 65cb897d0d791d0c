from simnet.kernel.sentinel cimport NEVER
cdef class CompletionQueue:
    cdef readonly bint armed
    cdef readonly long long period_ps
    cdef readonly long long frames
    cdef readonly bint from_cqe
    cdef readonly long long count
    cdef readonly long long deadline_ps
    cdef long long last_ps
    cdef long long event_ps
    cdef readonly bint notified
    cdef readonly long long events
    cpdef int moderate(self, long long period_ps, long long frames, bint from_cqe) except -1
    cpdef int completed(self, long long at) except -1
    cpdef long long due_ps(self, long long count, long long at, long long deadline) except? -1
    cpdef bint fire(self, long long now) except -1
    cpdef int close(self, long long now) except -1
    cpdef int take(self) except -1
    cpdef int arm(self, long long now, long long unseen) except -1
