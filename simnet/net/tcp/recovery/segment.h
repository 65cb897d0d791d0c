static inline long long *new_segments(Py_ssize_t count) {
    long long *words = (long long *) PyMem_Calloc((size_t) count * 8, sizeof(long long));
    if (!words) PyErr_NoMemory();
    return words;
}

static inline void free_segments(void *segments) {
    PyMem_Free(segments);
}
