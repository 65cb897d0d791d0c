cdef class SkbSizes:
    cdef readonly long long buffer_bytes
    cdef readonly long long part_bytes
    cdef readonly long long header_bytes
    cdef readonly long long pad_bytes
    cdef long long _slab(self, long long length) except? -1
    cpdef long long truesize(self, long long length) except? -1
    cpdef long long tailroom(self, long long length) except? -1

cdef class ReceiveQueue:
    cdef readonly long long memory
    cdef readonly long long first_left
    cdef long long head_length
    cdef long long head_memory
    cdef long long head_count
    cdef long long tail_length
    cdef long long tail_memory
    cdef long long tail_count
    cdef list middle
    cdef long long last_room
    cdef int init(self) except -1
    cpdef int append(self, long long length, long long memory, long long room) except -1
    cdef int _to_middle(self, long long length, long long memory, long long count) except -1
    cdef int _new_tail(self, long long length, long long memory) except -1
    cpdef bint coalesce(self, long long length) except? -1
    cpdef long long collapse(self, long long length, long long memory) except? -1
    cpdef long long take(self, long long count) except? -1
    cpdef int release(self) except -1
    cpdef int consume(self, long long count) except -1
