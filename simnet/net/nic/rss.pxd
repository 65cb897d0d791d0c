from simnet.net.link.skb cimport Header

cdef class Toeplitz:
    cdef long long[::1] words
    cpdef long long hash_ip4(self, long long source_ip, long long destination_ip) except? -1
    cpdef long long hash_tcp4(
        self, long long source_ip, long long destination_ip, long long source_port,
        long long destination_port
    ) except? -1
    cdef long long _word(self, int place, long long word) except? -1

cdef class Rss:
    cdef readonly Toeplitz toeplitz
    cdef long long[::1] table
    cdef long long mask
    cdef readonly int default_queue
    cpdef long long hash_of(self, Header header) except? -1
    cpdef int queue(self, Header header) except? -1
