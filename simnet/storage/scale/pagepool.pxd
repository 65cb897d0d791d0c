cpdef enum:
    READING = 0
    CLEAN = 1
    DIRTY = 2
    FLUSHING = 3


cdef class CachedFile:
    cdef readonly long long number
    cdef public long long size_bytes
    cdef readonly dict buffers
    cdef public int opens
    cdef public bint gone


cdef class Buffer:
    cdef readonly CachedFile file
    cdef readonly long long block
    cdef readonly long long memory_bytes
    cdef public int state
    cdef public int pins
    cdef public bint ahead
    cdef public bint waited
    cdef public bint again
    cdef public bint listed
    cdef public long long first_bytes
    cdef public long long last_bytes
    cdef public object waiting
    cdef Buffer newer
    cdef Buffer older


cdef class Pagepool:
    cdef readonly long long capacity_bytes
    cdef readonly long long block_bytes
    cdef readonly long long share_bytes
    cdef readonly long long used_bytes
    cdef readonly long long ahead_bytes
    cdef readonly long long dirty_bytes
    cdef readonly long long most_share_bytes
    cdef readonly long long stolen
    cdef Buffer _newest
    cdef Buffer _oldest

    cpdef long long memory_for(self, CachedFile file, long long block) except? -1
    cpdef Buffer find(self, CachedFile file, long long block)
    cpdef Buffer take(self, CachedFile file, long long block)
    cpdef bint has_share(self, CachedFile file, long long block) except -1
    cpdef int mark_ahead(self, Buffer buffer) except -1
    cpdef int read(self, Buffer buffer) except -1
    cpdef int mark_dirty(self, Buffer buffer) except -1
    cpdef int mark_clean(self, Buffer buffer) except -1
    cdef int _note_share(self) except -1
    cpdef int unpin(self, Buffer buffer, bint keep) except -1
    cpdef int release(self, Buffer buffer, bint keep) except -1
    cpdef int pin(self, Buffer buffer) except -1
    cpdef int drop(self, Buffer buffer) except -1
    cpdef int drop_dirty(self, Buffer buffer) except -1
    cdef int _unlink(self, Buffer buffer) except -1
