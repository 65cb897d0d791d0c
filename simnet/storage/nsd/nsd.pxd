from simnet.kernel.component cimport Component

cdef class NsdRequest

cdef class NsdClient(Component):
    cpdef int request_done(self, NsdRequest request) except -1

cdef class NsdRequest:
    cdef public int client
    cdef public long long file
    cdef public long long block
    cdef public long long offset_bytes
    cdef public long long size_bytes
    cdef public bint write
    cdef public NsdClient owner
    cdef public object tag
    cdef public long long submitted_ps
    cdef public long long done_ps
    cdef public int server
    cdef public int nsd
    cdef public long long track
    cdef public long long key
    cdef public long long slot

cpdef NsdRequest new_request(int client, long long file, long long block, long long offset_bytes, long long size_bytes, bint write, NsdClient owner, object tag)
