cdef class Target:
    cdef readonly str path
    cdef long long _sim_number
    cdef object _sim_owner

    cpdef void on_event(self, int kind, long long arg) except *
    cpdef int disconnect(self) except -1
    cdef int expect(self, int kind) except -1


cdef class CallbackEvent:
    cdef int fire(self) except -1
