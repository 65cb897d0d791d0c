from simnet.host.cpu cimport Context, Cpu

cdef class IrqLine:
    cdef readonly int irq
    cdef readonly str name
    cdef readonly list cpus
    cdef Cpu target
    cdef object pending_mask
    cdef public list counts
    cdef public long long total
    cpdef Cpu route(self)
    cpdef Cpu current_target(self)
