cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    static CYTHON_INLINE int simnet_lowest_bit(unsigned long long word) {
        unsigned long index; _BitScanForward64(&index, word); return (int) index;
    }
    static CYTHON_INLINE int simnet_bit_length(unsigned long long word) {
        unsigned long index; _BitScanReverse64(&index, word); return (int) index + 1;
    }
    #else
    static CYTHON_INLINE int simnet_lowest_bit(unsigned long long word) {
        return __builtin_ctzll(word);
    }
    static CYTHON_INLINE int simnet_bit_length(unsigned long long word) {
        return 64 - __builtin_clzll(word);
    }
    #endif
    #define SIMNET_GENERATION_MASK ((1LL << 39) - 1)
    """
    const long long GENERATION_MASK "SIMNET_GENERATION_MASK"
    int lowest_bit "simnet_lowest_bit"(unsigned long long word) noexcept nogil
    int bit_length "simnet_bit_length"(unsigned long long word) noexcept nogil


cimport cython


cdef enum:
    TIME
    NEXT
    PREVIOUS
    PRIORITY
    TARGET
    KIND
    ARG
    GENERATION
    WIDTH
    PRIORITIES = 4
    HEADS = 68
    FIRST_CAPACITY = 256
    SLOT_BITS = 24
    MOST_SLOTS = 1 << 24


@cython.final
cdef class EventQueue:
    cdef readonly long long last_ps
    cdef readonly long long pending
    cdef long long[::1] slots
    cdef long long capacity
    cdef long long free
    cdef unsigned long long far
    cdef unsigned long long near

    cpdef long long push(
        self, long long time_ps, int priority, long long target, int kind, long long arg
    ) except 0
    cpdef long long take(self, long long limit_ps) noexcept
    cpdef void release(self, long long slot) noexcept
    cpdef long long find(self, long long handle) noexcept
    cpdef void remove(self, long long slot) noexcept
    cpdef long long peek(self) noexcept
    cdef void _append(self, long long slot) noexcept
    cdef bint _spread(self, long long bucket, long long limit_ps) noexcept
    cdef long long _earliest(self, long long bucket) noexcept
    @cython.locals(larger="long long[::1]")
    cdef int _grow(self) except -1
