cdef extern from *:
    """
    static CYTHON_INLINE void simnet_fetch_lines(const void *object, int bytes) {
    #if defined(__GNUC__) || defined(__clang__)
        const char *at = (const char *) object;
        const char *end = at + bytes;
        for (; at < end; at += 64) __builtin_prefetch(at, 1);
    #endif
    }
    """
    void prefetch "simnet_fetch_lines"(const void *object, int bytes) noexcept nogil
