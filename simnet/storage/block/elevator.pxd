from simnet.storage.block.request cimport Bio, Request

cdef class Elevator:
    cdef public object q
    cdef public dict values
