from simnet.host.accounting cimport PROCESS_LEVEL, SYSTEM
from simnet.host.costs cimport Spread
from simnet.host.cpu cimport Cpu
from simnet.host.ledger cimport Ledger
from simnet.host.scheduler cimport Task
from simnet.kernel.random cimport RandomStream
from simnet.storage.block.request cimport Bio, IoContext
from simnet.storage.multiqueue.hardware cimport HardwareQueue
from simnet.storage.multiqueue.queue cimport MultiQueue
from simnet.workload.fio_stats cimport FioStats, add_latency, call_number, depth_number

cdef class IoUnit(Bio):
    cdef long long start_ps
    cdef long long issue_ps

cdef class FioJob(Task):
    cdef readonly MultiQueue queue
    cdef FioStats stats
    cdef RandomStream random
    cdef Spread spread
    cdef Ledger ledger
    cdef int engine
    cdef bint hipri
    cdef long long iodepth
    cdef long long batch
    cdef long long complete_min
    cdef Py_ssize_t complete_max
    cdef long long iodepth_low
    cdef long long bs_sectors
    cdef bint at_random
    cdef long long reads
    cdef long long first_sector
    cdef long long blocks
    cdef list next_block
    cdef long long unit_ps
    cdef long long syscall_ps
    cdef long long engine_ps
    cdef long long reap_ps
    cdef int state
    cdef list free
    cdef list queued
    cdef Py_ssize_t position
    cdef list done
    cdef readonly long long in_flight
    cdef readonly long long needed
    cdef long long debt_ps
    cdef bint roused
    cdef bint draining
    cdef int _prepare(self, Cpu cpu, long long system_ps) except -1
    cdef int _place(self, IoUnit unit) except -1
    cdef int _submit(self, Cpu cpu) except -1
    cdef int _run_system(self, Cpu cpu, int state, long long work_ps) except -1
    cdef int _sleep(self, int state) except -1
    cdef int _has_submitted(self, Cpu cpu) except -1
    cdef int _reap(self, Cpu cpu, long long enter_ps) except -1
    cdef int _wait(self, Cpu cpu) except -1
    cdef int _poll(self, Cpu cpu) except -1
    cdef int _retry(self, Cpu cpu) except -1
    cdef int _complete_polled(self, Cpu cpu) except -1
    cdef int _poll_again(self, Cpu cpu, int state) except -1
    cdef int _take(self, Cpu cpu, long long enter_ps) except -1
    cpdef void step(self, Cpu cpu) except *
