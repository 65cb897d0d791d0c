from simnet.host.cpu cimport Cpu
from simnet.host.softirq.softirq cimport SoftirqNetRx
from simnet.net.nic.port cimport Nic
from simnet.net.gro cimport Gro
from simnet.net.link.skb cimport Endpoint, Skb

cdef class Cxgb4(Nic):
    cdef readonly long long holdoff_ps
    cdef readonly long long frames
    cdef readonly Gro gro
    cdef long long entries
    cdef long long deadline_ps
    cdef bint tso
    cdef signed char[::1] tx_parts
    cdef Endpoint tx_endpoint
    cdef long long tx_end_seq
    cdef long long tx_cut_bytes
    cdef int phase
    cdef long long _timed(self, long long at) except? -1
    cdef int _entry(self, long long at) except -1
    cdef int _next_entry(self, Cpu cpu, SoftirqNetRx softirq) except? -1
    cdef long long _frame_work_ps(self) except? -1
    cdef Skb _counted(self, Cpu cpu)
    cdef int _finish(self, Cpu cpu, SoftirqNetRx softirq) except? -1
    cdef int _hand_up(self, Cpu cpu) except -1
    cdef int _deliver(self, Skb skb, Cpu cpu) except -1
