from simnet.host.accounting cimport PROCESS_LEVEL, SYSTEM
from simnet.host.costs cimport Costs
from simnet.host.cpu cimport Cpu
from simnet.host.scheduler cimport Task
from simnet.host.softirq.napi_instance cimport NapiInstance
from simnet.host.softirq.softirq cimport ProcessPoll

cdef class BusyPoller(Task):
    cdef readonly BusyLoop loop
    cpdef bint busy_loop_end(self) except -1
    cpdef int busy_loop_done(self, Cpu cpu) except -1

cdef class BusyLoop(ProcessPoll):
    cdef BusyPoller task
    cdef Costs costs
    cdef NapiInstance instance
    cdef int budget
    cdef bint prefer
    cdef bint owns
    cdef bint stopping
    cdef bint skips
    cdef bint yields
    cdef readonly bint active
    cdef readonly long long loops
    cpdef int start(self, Cpu cpu, NapiInstance instance, int budget, bint prefer) except -1
    cpdef bint resumed(self, Cpu cpu) except -1
    cdef int _turn(self, Cpu cpu) except -1
    cdef int _again(self, Cpu cpu) except -1
    cdef int _stop(self, Cpu cpu) except -1
    cdef int _last_polled(self, Cpu cpu) except -1
    cdef int _stopped(self, Cpu cpu) except -1
    cdef int _leave(self, Cpu cpu) except -1
