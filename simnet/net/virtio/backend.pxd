from simnet.host.kvm.host_cpu cimport HostThread
from simnet.net.link.skb cimport Skb

cdef enum:
    RX = 0
    TX = 1

cdef class Backend(HostThread):
    cdef public bint notify_rx
    cdef public bint notify_tx
    cdef bint waits_rx

    cpdef int kicked(self, int queue) except -1
    cpdef int published(self) except -1
    cpdef int enqueue(self, Skb skb) except -1
