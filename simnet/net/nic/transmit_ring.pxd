from simnet.host.buffers cimport Buffers
from simnet.host.costs cimport Costs
from simnet.host.cpu cimport Cpu
from simnet.host.memory cimport SharedLines
from simnet.net.link.skb cimport Endpoint, Skb
from simnet.net.link.wire cimport Serializer

cdef class TransmitRing:
    cdef int size
    cdef int mask
    cdef Costs costs
    cdef Buffers buffers
    cdef SharedLines lines
    cdef public Serializer serializer
    cdef long long fetch_ps
    cdef long long report_ps
    cdef public bint charges
    cdef readonly long long sent
    cdef readonly long long sent_bytes
    cdef long long seen
    cdef long long announced
    cdef long long reclaimed
    cdef list writers
    cdef list owners
    cdef long long[::1] lengths
    cdef Cpu freer
    cdef long long[::1] ends
    cdef long long[::1] counted

    cpdef long long use_ps(self, Cpu cpu) except? -1
    cpdef long long post(self, Skb skb, long long now, long long counted_bytes) except? -1
    cdef int hold(self, Skb skb, long long noted_ps, long long counted_bytes) except -1
    cdef int passed(self, long long counted_bytes) except -1
    cpdef long long packets_left(self, long long now) except? -1
    cpdef long long bytes_left(self, long long now) except? -1
    cpdef long long free(self, Cpu cpu) except? -1
    cpdef int free_part(self, Cpu cpu) except -1
    cpdef long long reclaim(self, Cpu cpu, long long count) except? -1
