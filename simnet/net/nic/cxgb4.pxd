from simnet.host.cpu cimport Cpu
from simnet.host.softirq.softirq cimport SoftirqNetRx
from simnet.host.softirq.verdict cimport POLL_CONTINUES, POLL_DONE, POLL_MORE
from simnet.kernel.sentinel cimport NEVER
from simnet.net.link.skb cimport Skb
from simnet.net.nic.offloading cimport OffloadingNic
from simnet.net.nic.port cimport Nic

cdef class Cxgb4(OffloadingNic):
    cdef readonly long long holdoff_ps
    cdef readonly long long frames
    cdef long long entries
    cdef long long deadline_ps
    cdef long long _timed(self, long long at) except? -1
    cdef int _entry(self, long long at) except -1
