cdef class Target:
    cdef public str path
    cdef public long long number
    cdef public object owner

    cpdef void on_event(self, int kind, long long arg) except *


cdef class Occurrence:
    cdef int happen(self) except -1
