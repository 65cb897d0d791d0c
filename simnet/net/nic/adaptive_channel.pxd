from simnet.kernel.priority cimport NIC
from simnet.net.link.ethernet cimport UNCOUNTED_BYTES
from simnet.net.nic.channel cimport Channel
from simnet.net.nic.completion_queue cimport CompletionQueue
from simnet.net.nic.dim cimport Dim

cdef class AdaptiveChannel(Channel):
    cdef readonly Dim rx_dim
    cdef readonly Dim tx_dim
    cdef long long command_ps
    cdef int _apply(self, Dim dim, CompletionQueue cq) except -1
    cdef long long _tx_counted(self) except? -1
    cdef long long _tx_counted_bytes(self) except? -1
    cdef long long _rx_counted_bytes(self) except? -1
