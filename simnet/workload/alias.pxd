cimport cython

from simnet.kernel.random cimport RandomStream

cdef class Alias:
    cdef RandomStream stream
    cdef long long count
    cdef const unsigned long long[::1] thresholds
    cdef const long long[::1] others
    cpdef long long pick(self) except? -1
