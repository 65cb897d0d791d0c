cdef extern from *:
    """
    static CYTHON_INLINE void simnet_fetch_lines(const void *object, int bytes) {
    #if defined(__GNUC__) || defined(__clang__)
        const char *at = (const char *) ((size_t) object & ~(size_t) 63);
        const char *end = (const char *) object + bytes;
        for (; at < end; at += 64) __builtin_prefetch(at, 1, 2);
    #endif
    }
    """
    void prefetch "simnet_fetch_lines"(const void *object, int bytes) noexcept nogil


cdef extern from *:
    """
    static CYTHON_INLINE void simnet_fetch_item(PyObject *list, Py_ssize_t index, int bytes) {
        simnet_fetch_lines(PyList_GET_ITEM(list, index), bytes);
    }
    """
    void prefetch_item "simnet_fetch_item"(list items, Py_ssize_t index, int bytes)
