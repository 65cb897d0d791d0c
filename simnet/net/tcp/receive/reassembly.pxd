from simnet.net.tcp.receive.queue cimport ReceiveQueue, SkbSizes

cdef class Reassembly:
    cdef readonly long long memory
    cdef readonly object duplicate
    cdef readonly int count
    cdef readonly bint kept
    cdef readonly long long added
    cdef SkbSizes sizes
    cdef bint coalesces
    cdef readonly list segments
    cdef readonly list blocks
    cdef list stale
    cdef int init(self, SkbSizes sizes, bint coalesces) except -1
    cpdef int repeated(self, long long seq, long long end_seq) except -1
    cdef int _extend(self, long long seq, long long end_seq) except -1
    cpdef bint insert(self, long long seq, long long end_seq, int compressed) except? -1
    cdef int _add(self, int at, long long seq, long long end_seq) except -1
    cdef bint _behind(self, int at, long long seq, long long end_seq) except? -1
    cdef bint _new_block(self, long long seq, long long end_seq, int compressed) except? -1
    cdef int _join(self) except -1
    cpdef long long release(self, long long rcv_nxt, ReceiveQueue queue) except? -1
    cpdef int purge(self) except -1
    cpdef list option(self, int most)
