from simnet.net.link.skb cimport Header
from simnet.net.qdisc.codel cimport Codel, CodelLimits
from simnet.net.qdisc.qdisc cimport Packet, PacketList, Qdisc
from simnet.net.steering.flow_hash cimport connection_hash

cdef class FqCodelFlow:
    cdef readonly Codel codel
    cdef long long deficit
    cdef bint listed
    cdef FqCodelFlow next

cdef class FlowList:
    cdef FqCodelFlow head
    cdef FqCodelFlow tail
    cdef int append(self, FqCodelFlow flow) except -1
    cdef int pop(self) except -1

cdef class FqCodel(Qdisc):
    cdef readonly list flows
    cdef long long count
    cdef long long limit
    cdef long long quantum
    cdef long long perturbation
    cdef FlowList new_flows
    cdef FlowList old_flows
    cdef readonly long long packets
    cdef readonly long long backlog
    cdef readonly long long new_flow_count
    cdef readonly long long drop_overlimit
    cdef readonly long long codel_drops
    cdef FqCodelFlow _flow_of(self, Packet packet)
    cdef int _drop(self) except -1
    cdef Packet _taken(self, FqCodelFlow flow, long long now)
