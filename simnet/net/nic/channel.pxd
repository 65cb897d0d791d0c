from simnet.host.cpu cimport Cpu
from simnet.host.softirq.napi_instance cimport NapiInstance
from simnet.host.softirq.softirq cimport SoftirqNetRx
from simnet.host.softirq.verdict cimport POLL_CONTINUES, POLL_DONE, POLL_MORE
from simnet.kernel.sentinel cimport NEVER
from simnet.net.link.skb cimport Skb
from simnet.net.nic.completion_queue cimport CompletionQueue
from simnet.net.nic.offloading cimport OffloadingNic
from simnet.net.nic.port cimport Nic

cdef class Channel(OffloadingNic):
    cdef readonly NapiInstance instance
    cdef readonly CompletionQueue rx_cq
    cdef readonly CompletionQueue tx_cq
    cdef int tx_budget
    cdef int doorbells
    cdef bint ran_out
    cdef bint ended
    cdef bint arms
    cdef long long tx_whole
    cdef long long polled_bytes
    cdef bint _is_part(self, long long number) except? -1
    cdef int _end(self) except -1
    cdef int _notify(self) except -1
    cdef long long _rx_due_ps(self) except? -1
    cdef long long _tx_due_ps(self) except? -1
    cdef int _poll_completed(self, long long now) except -1
