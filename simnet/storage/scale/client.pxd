from simnet.host.lpar cimport LparCpu
from simnet.storage.nsd.nsd cimport NsdRequest, new_request
from simnet.storage.scale.files cimport FileTable, Handle
from simnet.storage.scale.pagepool cimport CLEAN, DIRTY, FLUSHING, READING, Buffer, CachedFile


cdef class ScaleClient(FileTable):
    cdef readonly int number
    cdef readonly object cluster
    cdef readonly LparCpu cpu
    cdef long long daemon_fs_per_byte
    cdef long long prefetch_threads
    cdef long long worker_threads
    cdef long long max_bytes_s
    cdef long long discard_bytes
    cdef readonly long long latency_ps
    cdef readonly long long background
    cdef readonly long long background_bytes
    cdef readonly long long foreground
    cdef bint flush_turn
    cdef object hungry
    cdef object flushes
    cdef object short_of_memory
    cdef object short_of_share
    cdef bint serving
    cdef bint served_again
    cdef readonly long long hits
    cdef readonly long long late
    cdef readonly long long misses
    cdef readonly long long prefetched
    cdef readonly long long read_bytes
    cdef readonly long long written_bytes
    cdef readonly long long requests
    cdef readonly list bins

    cpdef Buffer read(self, Handle handle, long long block)
    cpdef bint touch(self, Handle handle, long long block) except -1
    cdef int _follow(self, Handle handle, long long block) except -1
    cdef Buffer _ask_for(self, Handle handle, long long block)
    cpdef int part_received(self, long long size_bytes) except -1
    cpdef int release(self, Handle handle, Buffer buffer) except -1
    cdef bint _keeps(self, CachedFile file, bint sequential) except -1
    cdef int _look_ahead(self, Handle handle) except -1
    cpdef Buffer write(self, Handle handle, long long block)
    cpdef int written(
        self, Handle handle, Buffer buffer, long long first_bytes, long long last_bytes, bint behind
    ) except -1
    cdef int _queue_flush(self, Buffer buffer) except -1
    cdef int _request(self, Buffer buffer, bint write, bint waited) except -1
    cpdef int request_done(self, NsdRequest request) except -1
    cdef int _wake(self, Handle handle) except -1
    cdef int _work(self, long long size_bytes) except -1
    cpdef int serve(self) except -1
    cdef int _serve(self, object waiting) except -1
    cdef int _serve_background(self) except -1
    cdef bint _is_quiet(self) except -1
    cdef int _make_room(self) except -1
    cdef bint _has_thread(self) except -1
    cdef int _flush_one(self) except -1
    cdef bint _prefetch_one(self) except -1
