from simnet.kernel.priority cimport NIC
from simnet.net.nic.adaptive_channel cimport AdaptiveChannel
from simnet.net.nic.completion_queue cimport CompletionQueue
from simnet.net.nic.dim cimport Dim

cdef class Mlx5(AdaptiveChannel):
    cdef long long map_ps
    cdef long long strided_bytes
    cdef long long mapped
    cdef bint maps
