from simnet.host.cpu cimport Context, Cpu

cdef class Arbiter:
    cdef int rule
    cdef int last
    cdef object random
    cpdef Cpu choose(self, list targets)

cdef class IrqLine:
    cdef readonly int irq
    cdef readonly str name
    cdef readonly list cpus
    cdef object apic
    cdef Arbiter arbiter
    cdef readonly list targets
    cdef Cpu target
    cdef bint several
    cdef object mask
    cdef object pending_mask
    cdef public list counts
    cdef public long long total
    cdef public object affinity_notify
    cpdef Cpu route(self)
    cpdef Cpu current_target(self)
