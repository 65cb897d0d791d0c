from simnet.storage.disk.mechanism cimport Access

cdef class Command(Access):
    cdef public object owner
    cdef public object tag
