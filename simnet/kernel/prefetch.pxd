cdef extern from *:
    """
    /* Every line of an object: for a size that the compiler knows, without a loop. */
    static CYTHON_INLINE void simnet_fetch_lines(const void *object, int bytes) {
    #if defined(__GNUC__) || defined(__clang__)
        const char *at = (const char *) object;
        for (int i = 0; i < bytes - 1; i += 64) __builtin_prefetch(at + i, 1, 2);
        __builtin_prefetch(at + bytes - 1, 1, 2);
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
