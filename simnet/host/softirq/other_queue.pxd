from simnet.host.accounting cimport SOFT_LEVEL
from simnet.host.costs cimport Costs
from simnet.host.cpu cimport Cpu
from simnet.host.softirq.napi_instance cimport NapiInstance
from simnet.host.softirq.softirq cimport Napi
from simnet.host.softirq.verdict cimport POLL_CONTINUES, POLL_DONE, POLL_MORE
from simnet.kernel.priority cimport NIC
from simnet.kernel.random cimport RandomStream

cdef class OtherQueue(Napi):
    cdef readonly NapiInstance instance
    cdef Cpu cpu
    cdef Costs costs
    cdef long long gap_ps
    cdef RandomStream stream
    cdef readonly int waiting
    cdef int taken
    cdef int limit
    cdef bint armed
    cdef int _await(self) except -1
    cdef int _interrupt(self) except -1
