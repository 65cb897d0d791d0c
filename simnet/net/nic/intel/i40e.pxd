from simnet.net.nic.intel.dynamic_itr cimport DynamicItr, RingContainer
from simnet.net.nic.intel.itr_channel cimport ItrChannel

cdef class I40e(ItrChannel):
    cdef readonly DynamicItr itr
    cdef long long rx_looked
    cdef long long rx_looked_bytes
    cdef long long tx_looked
    cdef long long tx_looked_bytes
