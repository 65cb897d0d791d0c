from simnet.host.cpu cimport Cpu
from simnet.host.kvm.host_cpu cimport BLOCKED, RUNNING, HostThread
from simnet.kernel.priority cimport LAST

cdef class Vcpu(HostThread):
    cdef readonly Cpu cpu
    cdef long long halt_ps
    cdef long long most_poll_ps
    cdef readonly long long poll_ps
    cdef long long halted_ps
    cdef long long timer
    cdef bint entering
    cdef bint halted
    cdef readonly long long halts
    cdef readonly long long polled

    cpdef int work_arrived(self, Cpu cpu) except -1
    cpdef int became_idle(self, Cpu cpu) except -1
    cpdef int changed(self, Cpu cpu) except -1
    cpdef int resumed(self) except -1
    cpdef int preempted(self) except -1
    cpdef int stop_polling(self) except -1
    cdef int _enter(self) except -1
    cdef int _adapt(self) except -1
    cpdef void on_event(self, int kind, long long arg) except *
