from simnet.kernel.priority cimport WIRE

cimport cython

from simnet.net.remote.link cimport RemoteLink
from simnet.net.link.skb cimport Skb, Uplink
from simnet.net.link.wire cimport Path, Port

cdef class RemoteUplink(Uplink):
    cdef readonly RemoteLink link
    cdef readonly long long frames

cdef class RemoteHosts(Port):
    cdef readonly RemoteUplink uplink
    cdef readonly long long frames
    cdef bint armed
    cpdef void on_event(self, int kind, long long arg) except *
