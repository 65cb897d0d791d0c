from simnet.host.cpu cimport Context, Cpu
from simnet.host.interrupt cimport IrqLine
from simnet.host.ledger cimport Ledger
from simnet.host.memory cimport Memory, SharedLines
from simnet.kernel.histogram cimport LogHistogram
from simnet.kernel.priority cimport CPU
from simnet.storage.block.merging cimport MergingQueue
from simnet.storage.block.request cimport Bio, Request
from simnet.storage.disk.command cimport Command
from simnet.storage.disk.drive cimport Drive
from simnet.storage.multiqueue.request cimport MqRequest
from simnet.storage.multiqueue.scheduler cimport MqScheduler

cdef class MultiQueue

cdef class Completer(Context):
    cdef readonly MultiQueue owner
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

cdef class MultiQueue(MergingQueue):
    cdef readonly Drive drive
    cdef Memory memory
    cdef readonly Ledger ledger
    cdef public int rq_affinity
    cdef int node
    cdef long long submit_ps
    cdef long long page_ps
    cdef readonly long long complete_ps
    cdef long long schedule_ps
    cdef readonly long long poll_ps
    cdef long long hardirq_ps
    cdef long long ipi_ps
    cdef long long wakeup_ps
    cdef public LogHistogram times
    cdef public list woken
    cdef list plug
    cdef readonly HardwareQueue submitting
    cdef public long long debt_ps
    cdef readonly long long ipis
    cdef readonly list hardware
    cdef list softirqs
    cdef dict of_cpu
    cdef dict polled_of_cpu
    cdef long long lock_ps
    cdef long long lock_free_ps
    cdef readonly long long locked_ps
    cdef SharedLines lock
    cdef dict _timers
    cdef readonly long long nr_requests
    cdef readonly MqScheduler scheduler
    cpdef HardwareQueue queue_of(self, Cpu cpu, bint polled)
    cpdef long long submit_work_ps(self, Cpu cpu, long long count, long long pages) except? -1
    cpdef long long doorbell_ps(self, Cpu cpu) except? -1
    cpdef Py_ssize_t submit(self, list bios, Py_ssize_t begin, Cpu cpu, object task, bint polled) except? -1
    cdef bint _merge_plugged(self, Bio bio) except -1
    cdef int _unplug(self, HardwareQueue hardware, Cpu cpu) except -1
    cdef int _take_lock(self, Cpu cpu, long long count) except -1
    cpdef int run_queue(self, HardwareQueue hardware) except -1
    cdef bint elsewhere(self, MqRequest request, Cpu cpu) except -1
    cdef int complete(self, MqRequest request, Cpu cpu) except -1
    cpdef long long waking_ps(self, long long count) except? -1
    cpdef void on_event(self, int kind, long long arg) except *
