from simnet.host.cpu cimport Cpu
from simnet.host.fair.select_idle_sibling cimport WakePlacement
from simnet.host.scheduler cimport Scheduler, Task

cdef class FairScheduler(Scheduler):
    cdef long long slice_ps
    cdef long long credit_ps
    cdef long long granularity_ps
    cdef long long latency_ps
    cdef bint eevdf
    cdef long long most_lag_ps
    cdef readonly WakePlacement placement
    cdef long long[::1] floors
    cdef long long[::1] counted
    cdef long long[::1] stolen
    cdef long long[::1] begun
    cdef long long[::1] parities
    cdef long long[::1] waiting
    cpdef Cpu place(self, Task task, Cpu waker)
    cdef long long _stolen_ps(self, Cpu cpu, Task task) except? -1
    cdef int _update(self, Cpu cpu) except -1
    cdef long long _sum(self, Cpu cpu) except? -1
    cdef bint _renewed(self, Task task, long long ahead_ps) except -1
    cdef int _renew_alone(self, Task task) except -1
    cdef Task _least(self, Cpu cpu)
    cdef Task _pick(self, Cpu cpu)
