from simnet.host.cpu cimport Context, Cpu
from simnet.host.interrupt cimport IrqLine
from simnet.host.ledger cimport Ledger
from simnet.host.memory cimport Memory
from simnet.storage.block.merging cimport MergingQueue
from simnet.storage.block.request cimport Bio
from simnet.storage.disk.command cimport Command
from simnet.storage.disk.drive cimport Drive
from simnet.storage.multiqueue.request cimport MqRequest

cdef class CompletingQueue(MergingQueue):
    cdef readonly Drive drive
    cdef Memory memory
    cdef readonly Ledger ledger
    cdef public int rq_affinity
    cdef int node
    cdef readonly long long complete_ps
    cdef long long hardirq_ps
    cdef long long ipi_ps
    cdef long long wakeup_ps
    cdef public list woken
    cdef public long long debt_ps
    cdef readonly long long ipis
    cdef list softirqs
    cpdef long long doorbell_ps(self, Cpu cpu) except? -1
    cdef bint elsewhere(self, MqRequest request, Cpu cpu) except -1
    cpdef long long waking_ps(self, long long count) except? -1
    cdef int complete(self, MqRequest request, Cpu cpu) except -1

cdef class Completer(Context):
    cdef readonly CompletingQueue owner
    cdef int level
    cdef int mode
    cdef int state
    cdef readonly list entries
    cdef Py_ssize_t taken
    cdef list woken
    cpdef void step(self, Cpu cpu) except *
    cdef long long _work_ps(self, Cpu cpu) except? -1
    cdef int _finish(self, MqRequest request, Cpu cpu) except -1

cdef class _Interprocessor(Context):
    cdef BlockSoftirq softirq
    cpdef void step(self, Cpu cpu) except *

cdef class BlockSoftirq(Completer):
    cdef Cpu cpu
    cdef Context ipi
    cdef int add(self, MqRequest request) except -1

cdef class HardwareQueue(Completer):
    cdef readonly int number
    cdef readonly long long depth
    cdef public long long tags
    cdef readonly IrqLine line
    cdef Drive drive
    cdef list unused
    cdef readonly long long allocated
    cdef readonly long long in_driver
    cdef readonly object dispatch
    cdef readonly object sleepers
    cdef readonly long long interrupts
    cdef readonly long long completions
    cdef MqRequest allocate(self, Bio bio, Cpu cpu)
    cdef int issue(self, MqRequest request) except -1
    cpdef int poll(self, Cpu cpu) except -1
