from simnet.host.accounting cimport SOFTIRQ, SOFT_LEVEL, SYSTEM
from simnet.host.cpu cimport Context, Cpu, Softirqs
from simnet.host.ledger cimport Ledger
from simnet.host.softirq.verdict cimport POLL_CONTINUES, POLL_DONE, POLL_MORE

cdef class Napi(Context):
    cdef public Napi next_polled
    cdef Napi next_ipi
    cdef readonly Cpu home
    cdef bint ipis_first
    cdef public bint scheduled
    cdef public int quota
    cdef public int weight
    cdef int _register_napi(self, object sim, str path, int weight) except -1
    cpdef int poll_begin(self, Cpu cpu, SoftirqNetRx softirq, int budget, long long work_ps) except? -1
    cpdef int poll_step(self, Cpu cpu, SoftirqNetRx softirq) except? -1

cdef class ProcessPoll(Context):
    cpdef int polled(self, Cpu cpu) except -1

cdef class SoftirqNetRx(Softirqs):
    cdef readonly Cpu cpu
    cdef readonly int budget
    cdef Napi head
    cdef Napi tail
    cdef Napi polling
    cdef int restarts
    cdef long long entry_left_ps
    cdef long long round_jiffy
    cdef long long entry_ps
    cdef int netdev_budget
    cdef int max_restart
    cdef int time_limit_jiffies
    cdef readonly long long jiffy_ps
    cdef readonly bint weight_each_poll
    cdef long long restart_jiffies
    cdef bint stops_for_processes
    cdef bint polls_once
    cdef bint thread_first
    cdef long long restart_from
    cdef int left
    cdef int listed
    cdef Napi repoll_head
    cdef Napi repoll_tail
    cdef long long ipi_ps
    cdef Ledger ledger
    cdef Napi ipi_head
    cdef int ipis_due
    cdef bint sending
    cdef readonly ProcessPoll process
    cdef readonly int mode
    cdef readonly long long ipis
    cdef public object ksoftirqd
    cdef readonly long long rounds
    cdef readonly long long polls
    cdef readonly long long time_squeezes
    cdef readonly long long ksoftirqd_wakeups
    cpdef int schedule(self, Napi napi) except -1
    cpdef int schedule_remote(self, Napi napi) except -1
    cpdef int complete(self, Napi napi) except -1
    cpdef int charge(self, int packets) except -1
    cpdef int poll_now(
        self, Cpu cpu, Napi napi, ProcessPoll process, int budget, long long work_ps
    ) except -1
    cdef int _process_polled(self, Cpu cpu) except -1
    cdef int _again(self, Cpu cpu) except -1
    cdef int _start_ipis(self, Cpu cpu) except -1
    cdef int _send_ipis(self) except -1
    cdef bint _over(self) except? -1
    cdef int _refill(self, Napi napi) except -1
    cdef int _take_head(self) except -1
    cdef int _next_device(self, Cpu cpu) except -1
    cdef int _polled(self, Cpu cpu, int verdict) except -1
    cdef int _round(self, Cpu cpu) except -1
    cdef int _append(self, Napi napi) except -1
    cdef int _rotate(self, Napi napi) except -1
    cpdef void step(self, Cpu cpu) except *
    cpdef void begin(self, Cpu cpu) except *
