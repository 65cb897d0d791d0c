cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    static CYTHON_INLINE int simnet_lowest_bit(unsigned long long word) {
        unsigned long index; _BitScanForward64(&index, word); return (int) index;
    }
    static CYTHON_INLINE int simnet_highest_bit(unsigned long long word) {
        unsigned long index; _BitScanReverse64(&index, word); return (int) index;
    }
    #define simnet_prefetch(word) ((void) (word))
    #else
    #define simnet_prefetch(word) __builtin_prefetch(word)
    static CYTHON_INLINE int simnet_lowest_bit(unsigned long long word) {
        return __builtin_ctzll(word);
    }
    static CYTHON_INLINE int simnet_highest_bit(unsigned long long word) {
        return 63 - __builtin_clzll(word);
    }
    #endif
    #define SIMNET_NEVER_PS ((long long) ((1ULL << 63) - 1))
    #define SIMNET_GENERATION_MASK ((1LL << 39) - 1)
    """
    const long long NEVER_PS "SIMNET_NEVER_PS"
    void prefetch "simnet_prefetch"(long long *word) noexcept nogil
    const long long GENERATION_MASK "SIMNET_GENERATION_MASK"
    int lowest_bit "simnet_lowest_bit"(unsigned long long word) noexcept nogil
    int highest_bit "simnet_highest_bit"(unsigned long long word) noexcept nogil


cimport cython


cdef enum:
    NEXT = 2
    PREVIOUS = 3
    LINKS = 4
    TARGET = 0
    KIND
    ARG
    GENERATION
    WORDS
    PRIORITY_BITS = 2
    PRIORITIES = 1 << PRIORITY_BITS
    DIGIT_BITS = 9
    DIGITS = 1 << DIGIT_BITS
    LEVELS = 7
    HEADS = PRIORITIES + LEVELS * DIGITS
    FIRST_CAPACITY = 4096
    CACHED = 4096
    FEW = 4
    SLOT_BITS = 24
    MOST_SLOTS = 1 << 24


@cython.final
cdef class EventQueue:
    cdef long long base_ps
    cdef readonly long long pending
    cdef long long[::1] times
    cdef int[::1] links
    cdef long long[::1] words
    cdef long long capacity
    cdef long long free
    cdef unsigned long long near
    cdef unsigned long long far
    cdef unsigned long long[::1] groups

    cdef long long push(
        self, long long time_ps, int priority, long long target, int kind, long long arg
    ) except 0
    cdef long long take(self, long long limit_ps) noexcept
    cdef inline void release(self, long long slot) noexcept
    cdef long long find(self, long long handle) noexcept
    cdef void remove(self, long long slot) noexcept
    cdef long long peek(self) noexcept
    cdef long long ahead(self, long long slot) noexcept
    cdef long long _take_of_several(self, long long limit_ps) noexcept
    cdef inline void _append(self, long long slot) noexcept
    cdef long long _first_of_few(self, long long head) noexcept
    cdef bint _precedes(self, long long slot, long long other) noexcept
    cdef void _spread(self, long long head) noexcept
    cdef void _clear(self, long long head) noexcept
    cdef long long _first_list(self) noexcept
    cdef void _list_is_empty(self, long long head) noexcept
    cdef long long _earliest(self, long long head) noexcept
    cdef int _grow(self) except -1
