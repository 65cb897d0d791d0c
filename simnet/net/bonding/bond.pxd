from simnet.host.costs cimport Costs
from simnet.host.cpu cimport Cpu
from simnet.host.memory cimport SharedLines
from simnet.kernel.component cimport Component
from simnet.kernel.priority cimport CPU
from simnet.net.link.skb cimport Header, Skb, SkbQueue, Station, copy_skb, new_skb
from simnet.net.link.switch cimport Egress, Ingress
from simnet.net.link.wire cimport Port

cdef class BondRoute

cdef class Slave:
    cdef readonly int index
    cdef readonly Port nic
    cdef readonly Ingress ingress
    cdef readonly Egress egress
    cdef public Station station
    cdef public bint carrier
    cdef public int link
    cdef public int delay
    cdef public bint active
    cdef public bint aggregated
    cdef public long long load
    cpdef bint ok(self) except? -1

cdef class Bond(Component):
    cdef readonly int mode
    cdef readonly list slaves
    cdef list waiting
    cdef long long copy_ps
    cdef public int current
    cdef readonly Station station
    cdef readonly Station everyone
    cdef Costs costs
    cdef SharedLines lines
    cdef long long touched
    cdef readonly list tlb_slave
    cdef readonly list tlb_bytes
    cdef readonly list tlb_history
    cdef long long unbalanced
    cdef readonly long long frames
    cdef readonly long long dropped

    cpdef int xmit(self, Skb skb, BondRoute route) except -1
    cpdef int flush(self, BondRoute route) except -1
    cpdef long long cost_ps(self, Cpu cpu, BondRoute route) except? -1
    cpdef Slave least_loaded(self)
    cdef Slave _first_up_from(self, int start)
    cdef Slave _aggregated(self, long long number)
    cdef Slave _balanced(self, int index, int length)
    cdef Slave _likely(self, BondRoute route)
    cdef int _queue(self, Slave slave, Skb skb, BondRoute route) except -1
    cdef int _broadcast(self, Skb skb, BondRoute route) except -1
    cpdef void on_event(self, int kind, long long arg) except *

cdef class BondRoute(Port):
    cdef readonly Bond bond
    cdef readonly Header header
    cdef readonly long long hash
    cdef readonly int tlb_index
    cdef list headers
    cdef public list outlets
    cpdef Header sent_by(self, Slave slave)
    cpdef int transmit(self, Skb skb) except -1
    cpdef int flush(self) except -1
    cpdef long long transmit_cost_ps(self, Cpu cpu) except? -1
