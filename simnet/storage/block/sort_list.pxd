from simnet.storage.block.request cimport Request

cdef class SortList:
    cdef list _requests
    cdef Py_ssize_t _left(self, long long sector) except -1
    cdef Request _at(self, Py_ssize_t position)
    cdef Py_ssize_t _position(self, Request request) except -1
    cpdef Request find(self, long long sector)
    cpdef Request add(self, Request request)
    cpdef int insert(self, Request request) except -1
    cpdef Request from_sector(self, long long sector)
    cpdef int remove(self, Request request) except -1
    cpdef Request first(self)
    cpdef Request following(self, Request request)
    cpdef Request following_or_first(self, Request request)
    cpdef Request preceding(self, Request request)

cdef class MergeHash:
    cdef dict _ends
    cdef dict _key_of
    cpdef int add(self, Request request) except -1
    cpdef int remove(self, Request request) except -1
    cpdef Request find(self, long long sector)
