from simnet.kernel.sentinel cimport NEVER
from simnet.net.nic.port cimport Nic
from simnet.net.link.skb cimport Skb

cdef class Tg3(Nic):
    cdef long long rx_usecs_ps
    cdef long long rx_usecs_irq_ps
    cdef long long tx_usecs_ps
    cdef long long tx_usecs_irq_ps
    cdef int rx_frames
    cdef int rx_frames_irq
    cdef int tx_frames
    cdef int tx_frames_irq
    cdef bint shared_update
    cdef bint clrtick
    cdef int rx_count
    cdef int tx_count
    cdef long long rx_deadline_ps
    cdef long long tx_deadline_ps
    cdef int _update(self) except -1
    cdef int _receive(self, Skb skb) except -1
    cdef int _completed(self, long long at) except -1
