from simnet.kernel.priority cimport NIC
from simnet.net.link.skb cimport Header
from simnet.net.nic.flow_rules cimport FlowRules, flow_of
from simnet.net.steering.backlog cimport Backlog
from simnet.net.steering.steering cimport Accelerator, PacketSteering

cdef class _Rule:
    cdef object key
    cdef object flow
    cdef int queue
    cdef long long entry
    cdef long long filter_id
    cdef bint waits

cdef class Arfs(Accelerator):
    cdef long long command_ps
    cdef bint batches
    cdef bint by_flow_entry
    cdef long long period_ps
    cdef FlowRules rules
    cdef list queues
    cdef list backlogs
    cdef readonly object rmap
    cdef dict known
    cdef object waiting
    cdef bint works
    cdef bint ticks
    cdef long long last_filter_id
    cpdef PacketSteering steer(self, PacketSteering current, Header header, long long cpu)
    cdef long long _rx_flow_steer(self, Header header, int number, long long entry) except? -2
    cdef int _wake(self) except -1
    cdef int _program(self, _Rule rule) except -1
    cdef long long _expire(self, long long most) except? -1
    cdef bint _may_expire(self, _Rule rule) except? -1
