from simnet.host.cpu cimport Cpu
from simnet.host.softirq.softirq cimport SoftirqNetRx
from simnet.net.nic.port cimport Nic
from simnet.net.link.skb cimport Endpoint, Skb, SkbQueue

cdef class Cxgb4(Nic):
    cdef readonly long long holdoff_ps
    cdef readonly long long frames
    cdef readonly bint gro
    cdef long long entries
    cdef long long deadline_ps
    cdef bint tso
    cdef signed char[::1] tx_parts
    cdef Endpoint tx_endpoint
    cdef long long tx_end_seq
    cdef long long tx_cut_bytes
    cdef SkbQueue held
    cdef int phase
    cdef readonly long long merged
    cdef long long _timed(self, long long at) except? -1
    cdef int _entry(self, long long at) except -1
    cdef int _next_entry(self, Cpu cpu, SoftirqNetRx softirq) except? -1
    cdef long long _frame_work_ps(self) except? -1
    cdef Skb _counted(self, Cpu cpu)
    cdef int _finish(self, Cpu cpu, SoftirqNetRx softirq) except? -1
    cdef Skb _held_of(self, Skb skb)
    cdef bint _continues(self, Skb held, Skb skb) except? -1
    cdef bint _adds(self, Skb skb) except? -1
    cdef int _merge(self, Skb skb) except -1
    cdef int _offload(self, Skb skb, Cpu cpu) except -1
    cdef int _release(self, Skb wanted, Cpu cpu) except -1
    cdef int _deliver(self, Skb skb, Cpu cpu) except -1
