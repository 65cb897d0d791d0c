from simnet.host.accounting cimport SOFTIRQ, SOFT_LEVEL
from simnet.host.cpu cimport Cpu
from simnet.host.softirq.softirq cimport SoftirqNetRx
from simnet.host.softirq.verdict cimport POLL_CONTINUES, POLL_DONE, POLL_MORE
from simnet.kernel.priority cimport NIC
from simnet.kernel.sentinel cimport NEVER
from simnet.net.nic.port cimport Nic
from simnet.net.link.skb cimport Skb

cdef class Ibmveth(Nic):
    cdef readonly Ibmveth far
    cdef long long[::1] sizes
    cdef long long[::1] available
    cdef long long[::1] filled
    cdef long long[::1] missing
    cdef int pools
    cdef int state
    cdef bint stopped_full
    cdef long long latency_ps
    cdef long long irq_ps
    cdef long long signal_ps
    cdef long long send_ps
    cdef long long copy_line_ps
    cdef long long page_ps
    cdef long long unmap_ps
    cdef long long add_ps

    cdef int _deliver(self, Skb skb) except -1
    cdef int _leave(self, SoftirqNetRx softirq, int verdict) except? -1
    cdef int _call(self, Cpu cpu, SoftirqNetRx softirq, int state) except? -1
    cdef int _next(self, Cpu cpu, SoftirqNetRx softirq) except? -1
    cdef long long _replenish(self) except? -1
    cpdef void step(self, Cpu cpu) except *
    cpdef void on_event(self, int kind, long long arg) except *
