from simnet.kernel.sentinel cimport NEVER
from simnet.net.nic.port cimport Nic

cdef class E1000(Nic):
    cdef long long throttle_ps
    cdef long long tx_delay_ps
    cdef long long last_irq_ps
    cdef long long cause_ps
    cdef long long tx_deadline_ps
