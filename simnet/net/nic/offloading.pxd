from simnet.host.accounting cimport SOFT_LEVEL
from simnet.host.cpu cimport Cpu
from simnet.host.softirq.softirq cimport SoftirqNetRx
from simnet.host.softirq.verdict cimport POLL_CONTINUES
from simnet.net.gro cimport Gro
from simnet.net.link.skb cimport Endpoint, Skb
from simnet.net.nic.port cimport Nic

cdef class OffloadingNic(Nic):
    cdef readonly Gro gro
    cdef bint makes_each
    cdef bint flushes_full
    cdef int page_bytes
    cdef long long jiffy_ps
    cdef int phase
    cdef bint tso
    cdef signed char[::1] tx_parts
    cdef Endpoint tx_endpoint
    cdef long long tx_end_seq
    cdef long long tx_cut_bytes
    cdef int _finish(self, Cpu cpu, SoftirqNetRx softirq) except? -1
    cdef bint _goes_on(self, Cpu cpu, SoftirqNetRx softirq) except? -1
    cdef int _flush_held(self) except -1
    cdef int _next_entry(self, Cpu cpu, SoftirqNetRx softirq) except? -1
    cdef int _run(self, Cpu cpu, SoftirqNetRx softirq, long long work) except? -1
    cdef long long _frame_work_ps(self, Cpu cpu) except? -1
    cdef long long _pages_ps(self, Cpu cpu, Skb skb) except? -1
    cdef Skb _counted(self, Cpu cpu)
    cdef int _hand_up(self, Cpu cpu) except -1
    cdef int _deliver(self, Skb skb, Cpu cpu) except -1
