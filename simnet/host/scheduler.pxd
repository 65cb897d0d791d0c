from simnet.host.accounting cimport PROCESS_LEVEL, SYSTEM
from simnet.host.costs cimport Costs
from simnet.host.cpu cimport Context, Cpu, Dispatcher, Occupation
from simnet.kernel.priority cimport CPU

cdef class Task(Context):
    cdef public Cpu cpu
    cdef readonly Scheduler scheduler
    cdef readonly int priority
    cdef readonly bint sleeping
    cdef bint expired
    cdef public object allowed
    cdef long long switched_in_ps
    cdef public long long virtual_ps
    cdef public long long deadline_ps
    cdef public long long lag_ps
    cdef public bint runs_softirqs
    cdef public bint sync
    cdef Cpu recent
    cdef readonly long long wakeups
    cdef readonly long long migrations
    cpdef int sleep(self) except -1
    cpdef bint wake_on(self, Cpu waker) except? -1
    cpdef bint yield_if_needed(self, Cpu cpu) except? -1
    cpdef bint should_yield(self, Cpu cpu) except -1

cdef class Scheduler(Dispatcher):
    cdef readonly list cpus
    cdef readonly Costs costs
    cdef readonly long long tick_ps
    cdef long long timeslice_ps
    cdef long long[::1] loads
    cdef long long[::1] load_ticks
    cdef long long[::1] running_counts
    cdef Occupation resched
    cdef bint idle_balance
    cdef long long balance_timer
    cdef readonly long long ipis
    cdef list executed
    cdef readonly long long switches
    cpdef Cpu place(self, Task task, Cpu waker)
    cpdef int wake(self, Task task, Cpu waker) except -1
    cpdef int queued(self, Task task, Cpu cpu) except -1
    cpdef int stopped(self, Task task) except -1
    cpdef int migrated(self, Task task, Cpu cpu) except -1
    cpdef bint gives_way(self, Task task, Cpu cpu) except -1
    cpdef Task next_task(self, Cpu cpu)
    cdef long long _timeslice_ps(self, Task task) except? -1
    cpdef bint idle(self, Cpu cpu) except? -1
    cdef Cpu _wake_idle(self, Cpu cpu, Task task)
    cdef long long _load(self, Cpu cpu) except? -1
    cdef int _count(self, Cpu cpu, int change) except -1
    cdef int _pull(self, Cpu idle) except -1
    cdef int _await_tick(self) except -1
    cdef int _switched(self, Cpu cpu, object task) except -1
    cpdef void on_event(self, int kind, long long arg) except *
    cpdef void switch_in(self, Cpu cpu) except *
