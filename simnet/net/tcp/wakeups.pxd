from simnet.host.costs cimport Costs
from simnet.host.cpu cimport Cpu
from simnet.host.memory cimport Memory
from simnet.host.scheduler cimport Task

cdef class Wakeups:
    cdef Costs costs
    cdef Memory memory
    cdef int runqueue_lines

    cdef long long woken_ps(self, Cpu cpu, Task task) except? -1
