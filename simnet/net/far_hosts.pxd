cimport cython

from simnet.net.remote_link cimport RemoteLink
from simnet.net.skb cimport Skb, Uplink
from simnet.net.wire cimport Path, Port

cdef class FarUplink(Uplink):
    cdef readonly RemoteLink link
    cdef readonly long long frames

cdef class FarHosts(Port):
    cdef readonly FarUplink uplink
    cdef readonly long long frames
    cdef bint armed
    cpdef void on_event(self, int kind, long long arg) except *
