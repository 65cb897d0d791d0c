/* What a generator yields, or what it returns with *returned set: no StopIteration is made. */
static inline PyObject *send(PyObject *generator, PyObject *value, int *returned) {
    PyObject *result = NULL;
    *returned = PyIter_Send(generator, value, &result) == PYGEN_RETURN;
    return result;
}
