from simnet.net.link.skb cimport Skb
from simnet.net.link.wire cimport Path, Port

cdef class RemoteLink:
    cdef public Path path_out
    cdef long long byte_ps
    cdef long long free_ps

    cpdef int send(self, Skb skb, long long now) except -1

cdef class RemotePort(Port):
    cdef Port sender
    cdef Port receiver
