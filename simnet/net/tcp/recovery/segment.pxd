cdef enum:
    WORDS = 8
    END = 0
    TAG
    SENT
    MARK
    SENT_US
    NEXT
    PREVIOUS
    SACKED = 1
    RETRANS = 2
    LOST = 4
    EVER = 8
    TAGS = 7

cdef extern from *:
    """
    static CYTHON_INLINE long long *simnet_new_segments(Py_ssize_t count) {
        long long *words = (long long *) PyMem_Calloc((size_t) count * 8, sizeof(long long));
        if (!words) PyErr_NoMemory();
        return words;
    }
    """
    long long *new_segments "simnet_new_segments"(Py_ssize_t count) except NULL
    void free_segments "PyMem_Free"(void *segments) noexcept
