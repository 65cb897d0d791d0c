from simnet.storage.block.request cimport Request

cdef class SortList:
    cdef list _keys
    cdef list _requests

cdef class MergeHash:
    cdef dict _ends
    cdef dict _key_of
