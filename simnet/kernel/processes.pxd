from simnet.kernel.events cimport EnvironmentCore, EventCore


cdef extern from *:
    """
    /* What a generator yields, or what it returns with *returned set: no StopIteration is made. */
    static CYTHON_INLINE PyObject *simnet_send(PyObject *generator, PyObject *value, int *returned) {
        PyObject *result = NULL;
        *returned = PyIter_Send(generator, value, &result) == PYGEN_RETURN;
        return result;
    }
    """
    object send "simnet_send"(object generator, object value, int *returned)


cdef class ProcessCore(EventCore):
    cdef public object _generator
    cdef public object _target
    cdef int _returned

    cdef object advance(self, object event)
    cdef object _send(self, object value)
    cdef bint wait_for(self, object event) except -1
    cdef int end(self, object value, bint ok) except -1


cdef class InitializeCore(EventCore):
    cdef ProcessCore _process


cdef class InterruptionCore(EventCore):
    cdef readonly ProcessCore process
