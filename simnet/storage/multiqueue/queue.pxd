from simnet.host.cpu cimport Cpu
from simnet.host.memory cimport SharedLines
from simnet.kernel.histogram cimport LogHistogram
from simnet.storage.block.request cimport Bio, Request
from simnet.storage.disk.drive cimport Drive
from simnet.storage.multiqueue.hardware cimport CompletingQueue, HardwareQueue
from simnet.storage.multiqueue.request cimport MqRequest
from simnet.storage.multiqueue.scheduler cimport MqScheduler

cdef class MultiQueue(CompletingQueue):
    cdef long long submit_ps
    cdef long long page_ps
    cdef long long schedule_ps
    cdef readonly long long poll_ps
    cdef public LogHistogram times
    cdef list plug
    cdef readonly HardwareQueue submitting
    cdef readonly Cpu submitter
    cdef readonly list hardware
    cdef dict of_cpu
    cdef dict polled_of_cpu
    cdef long long lock_ps
    cdef long long lock_free_ps
    cdef readonly long long locked_ps
    cdef SharedLines lock
    cdef readonly long long nr_requests
    cdef public MqScheduler scheduler
    cpdef HardwareQueue queue_of(self, Cpu cpu, bint polled)
    cpdef long long submit_work_ps(self, Cpu cpu, long long count, long long pages) except? -1
    cpdef Py_ssize_t submit(self, list bios, Py_ssize_t begin, Cpu cpu, object task, bint polled) except? -1
    cdef bint _merge_plugged(self, Bio bio) except -1
    cdef int _unplug(self, HardwareQueue hardware, Cpu cpu) except -1
    cdef int _take_lock(self, Cpu cpu, long long count) except -1
    cpdef int run_queue(self, HardwareQueue hardware) except -1
    cdef int complete(self, MqRequest request, Cpu cpu) except -1
    cpdef void on_event(self, int kind, long long arg) except *
