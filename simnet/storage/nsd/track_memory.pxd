from simnet.storage.raid.track cimport mix

cdef class TrackMemory:
    cdef readonly int count
    cdef int capacity
    cdef int free
    cdef long long[::1] keys
    cdef long long[::1] strips
    cdef int[::1] following
    cdef int[::1] older
    cdef int[::1] newer
    cdef int[::1] first
    cdef int _make(self, int capacity) except -1
    cdef int _grow(self) except -1
    cdef int _bucket(self, long long key) except -1
    cdef int _find(self, long long key) except -1
    cpdef long long held(self, long long key) except? -1
    cpdef int put(self, long long key, long long strips) except -1
    cpdef long long drop_oldest(self) except? -1
    cdef int _unlink(self, int entry) except -1
