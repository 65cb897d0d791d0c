cimport cython


cdef extern from *:
    """
    /* The high half of a 128-bit product, without a 128-bit type. */
    static CYTHON_INLINE unsigned long long simnet_high_product(
        unsigned long long a, unsigned long long b
    ) {
        unsigned long long a0 = a & 0xFFFFFFFFu, a1 = a >> 32;
        unsigned long long b0 = b & 0xFFFFFFFFu, b1 = b >> 32;
        unsigned long long middle = a1 * b0 + (a0 * b0 >> 32);
        return a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & 0xFFFFFFFFu)) >> 32);
    }
    """
    unsigned long long high_product "simnet_high_product"(
        unsigned long long a, unsigned long long b
    ) noexcept nogil


cdef enum:
    BLOCK = 64


@cython.final
cdef class RandomStream:
    cdef readonly str path
    cdef readonly object seed
    cdef object _bits
    cdef object _generator
    cdef const unsigned long long[::1] _block
    cdef int _next

    cpdef unsigned long long raw(self) except? 0
    cpdef long long below(self, long long count) except? 0
    cpdef long long exponential_ps(self, long long mean_ps) except? 0


cdef bytes _digest(object seed, str path, str purpose)
cpdef unsigned long long first_raw(object seed, str path) except? 0
cdef int _seed_words(bytes entropy, unsigned long long* words) except -1
