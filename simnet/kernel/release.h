/* What the collector does to an object that only a ring of references keeps. */
#ifndef SIMNET_RELEASE
#define SIMNET_RELEASE
static inline int release(PyObject *item) {
    inquiry clear = Py_TYPE(item)->tp_clear;
    return clear == NULL ? 0 : clear(item);
}
#endif
