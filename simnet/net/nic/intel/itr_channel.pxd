from simnet.host.cpu cimport Cpu
from simnet.net.link.ethernet cimport UNCOUNTED_BYTES
from simnet.net.link.skb cimport Skb
from simnet.net.nic.adaptive_channel cimport AdaptiveChannel
from simnet.net.nic.channel cimport Channel
from simnet.net.nic.dim cimport Dim
from simnet.net.nic.offloading cimport OffloadingNic

cdef class ItrChannel(AdaptiveChannel):
    cdef readonly long long rx_itr_ps
    cdef readonly long long tx_itr_ps
    cdef readonly long long intrl_ps
    cdef long long[::1] tx_lengths
    cdef long long cleaned
    cdef long long cleaned_bytes
    cdef int _throttle(self) except -1
