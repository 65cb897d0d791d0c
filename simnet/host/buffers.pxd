from simnet.host.cpu cimport Cpu
from simnet.host.ledger cimport Ledger
from simnet.host.memory cimport Memory

cdef class Buffers:
    cdef Memory memory
    cdef Ledger ledger
    cdef int skb_lines
    cdef int slab_lines
    cpdef long long allocated_ps(self, Cpu cpu, Cpu freer) except? -1
    cpdef long long freed_ps(self, Cpu cpu, Cpu toucher) except? -1
