cdef class Ecn:
    cdef readonly bint reduced
    cdef readonly bint echoes
    cdef readonly bint seen
    cdef readonly int arriving
    cdef readonly long long marks

    cpdef int reduce(self) except -1
    cpdef int restore(self) except -1
    cpdef bint arrives(self, int bits) except? -1
    cpdef bint checked(self) except? -1
    cpdef int leaving(self, bint fresh) except? -1
