from simnet.kernel.sentinel cimport NEVER
from simnet.net.link.skb cimport Skb

cdef class Packet:
    cdef readonly Skb head
    cdef readonly Skb tail
    cdef readonly int segments
    cdef readonly long long bytes
    cdef public long long enqueued_ps
    cdef Packet next
    cpdef int add(self, Skb skb, long long counted_bytes) except -1

cdef class PacketList:
    cdef readonly Packet head
    cdef Packet tail
    cdef readonly int count
    cdef readonly int segments
    cdef readonly long long bytes
    cpdef int append(self, Packet packet) except -1
    cpdef Packet pop(self)

cdef class Qdisc:
    cdef readonly PacketList dropped
    cdef readonly int segments
    cpdef int enqueue(self, Packet packet, long long now) except -1
    cpdef Packet dequeue(self, long long now)
    cpdef long long next_ps(self) except? -1

cdef class PfifoFast(Qdisc):
    cdef int limit
    cdef PacketList waiting
