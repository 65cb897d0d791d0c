from simnet.host.costs cimport Costs
from simnet.host.cpu cimport Context, Cpu
from simnet.host.scheduler cimport Task
from simnet.host.softirq.softirq cimport Napi, SoftirqNetRx
from simnet.kernel.priority cimport NIC

cdef class NapiInstance(Context):
    cdef readonly Napi napi
    cdef Costs costs
    cdef public int napi_id
    cdef public int defer_hard_irqs
    cdef public long long gro_flush_timeout_ps
    cdef public long long irq_suspend_timeout_ps
    cdef public int defer_count
    cdef public Task thread
    cdef readonly bint thread_polls
    cdef public bint missed
    cdef public bint in_busy_poll
    cdef public bint prefer_busy_poll
    cdef readonly bint ran_out
    cdef readonly bint keeps_young
    cdef long long timeout_ps
    cdef bint deferred
    cdef long long timer
    cdef Cpu timer_cpu
    cdef public long long interrupts
    cdef readonly long long polls
    cdef readonly long long poll_packets
    cdef readonly long long polls_empty
    cdef readonly long long polls_full_budget
    cdef readonly long long timeouts
    cpdef int schedule(self, Cpu cpu) except -1
    cpdef int hand_over(self, Cpu cpu) except -1
    cpdef int polled(self, int packets, int budget) except -1
    cpdef bint completing(self, int packets, bint holds) except -1
    cpdef bint completed(self, Cpu cpu, SoftirqNetRx softirq) except -1
    cpdef bint left_to_process(self, Cpu cpu, SoftirqNetRx softirq, int packets) except -1
    cpdef int start_timer(self, Cpu cpu, long long delay_ps) except -1
    cpdef void on_event(self, int kind, long long arg) except *
    cpdef void step(self, Cpu cpu) except *
    cpdef int suspend_irqs(self, Cpu cpu) except -1
    cpdef int resume_irqs(self, Cpu cpu) except -1
