from simnet.net.nic.completion_queue cimport CompletionQueue
from simnet.net.nic.dim cimport Dim
from simnet.net.nic.intel.itr_channel cimport ItrChannel

cdef class Ice(ItrChannel):
    cdef object profiles
