from simnet.host.cpu cimport Cpu
from simnet.host.interrupt cimport IrqLine
from simnet.net.nic.flow_rules cimport FlowRules
from simnet.net.nic.port cimport Nic
from simnet.net.nic.rss cimport Rss
from simnet.net.link.skb cimport Header, Skb
from simnet.net.link.wire cimport Path, Port

cdef class XpsMap:
    cdef long long[::1] starts
    cdef long long[::1] queues
    cpdef int queue(self, int cpu, long long word) except? -2

cdef class MultiqueuePort(Port):
    cdef readonly object name
    cdef readonly list queues
    cdef readonly int tx_queues
    cdef readonly Rss rss
    cdef public XpsMap xps
    cdef public FlowRules rules
    cpdef int rx_queue(self, Header header) except? -1
    cpdef int advance(self, long long now) except -1
