from simnet.kernel.sentinel cimport NEVER
from simnet.net.link.skb cimport Endpoint
from simnet.net.qdisc.qdisc cimport Packet, PacketList, Qdisc

cdef class FqFlow:
    cdef PacketList waiting
    cdef long long credit
    cdef bint listed

cdef class Fq(Qdisc):
    cdef long long limit
    cdef long long flow_limit
    cdef long long quantum
    cdef long long initial_quantum
    cdef PacketList internal
    cdef dict flows
    cdef object new_flows
    cdef object old_flows
    cdef list delayed
    cdef readonly long long packets
    cdef readonly long long throttled
    cdef bint _is_fast(self, long long now) except? -1
    cdef FqFlow _flow_of(self, Packet packet)
    cdef Packet _taken(self, Packet packet)
