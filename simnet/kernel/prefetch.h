/* Every line of an object: for a size that the compiler knows, without a loop. */
#ifndef SIMNET_PREFETCH
#define SIMNET_PREFETCH
static inline void prefetch(const void *object, int bytes) {
#if defined(__GNUC__) || defined(__clang__)
    const char *at = (const char *) object;
    for (int i = 0; i < bytes - 1; i += 64) __builtin_prefetch(at + i, 1, 2);
    __builtin_prefetch(at + bytes - 1, 1, 2);
#endif
}

static inline void prefetch_item(PyObject *list, Py_ssize_t index, int bytes) {
    prefetch(PyList_GET_ITEM(list, index), bytes);
}
#endif
