cimport cython

from simnet.kernel.prefetch cimport prefetch
from simnet.kernel.random cimport RandomStream

cdef class Alias:
    cdef RandomStream stream
    cdef long long count
    cdef long long position
    cdef unsigned long long bits
    cdef const unsigned long long[::1] thresholds
    cdef const long long[::1] others
    cdef int _draw(self) except -1
    cpdef long long pick(self) except? -1
