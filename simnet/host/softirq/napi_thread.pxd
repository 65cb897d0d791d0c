from simnet.host.accounting cimport PROCESS_LEVEL, SYSTEM
from simnet.host.cpu cimport Cpu
from simnet.host.scheduler cimport Task
from simnet.host.softirq.napi_instance cimport NapiInstance
from simnet.host.softirq.softirq cimport ProcessPoll, SoftirqNetRx

cdef class _Poll(ProcessPoll):
    cdef NapiThread thread
    cpdef int polled(self, Cpu cpu) except -1

cdef class NapiThread(Task):
    cdef readonly NapiInstance instance
    cdef _Poll poll
    cdef bint woken
    cpdef void step(self, Cpu cpu) except *
