from simnet.storage.nsd.nsd cimport NsdClient
from simnet.storage.scale.pagepool cimport CLEAN, DIRTY, Buffer, CachedFile, Pagepool


cdef class BlockUser(NsdClient):
    cpdef void block_ready(self, Handle handle) except *


cdef class Handle:
    cdef readonly CachedFile file
    cdef readonly BlockUser user
    cdef readonly long long next_block
    cdef readonly long long window
    cdef readonly long long asked
    cdef readonly long long last_block
    cdef readonly long long wanted
    cdef readonly bint sequential
    cdef bint queued
    cdef readonly bint writes


cdef class FileTable(NsdClient):
    cdef readonly Pagepool pool
    cdef readonly long long block_bytes
    cdef readonly object files
    cdef long long most_files
    cdef dict awaiting_clean
    cdef readonly long long dropped_bytes

    cpdef int serve(self) except -1
    cdef int _queue_flush(self, Buffer buffer) except -1
    cpdef bint knows(self, long long number) except -1
    cdef int _abandon(self, Handle handle) except -1
