from simnet.host.cpu cimport Cpu
from simnet.storage.block.request cimport Bio, Request
from simnet.storage.disk.command cimport Command

cdef class MqRequest(Request):
    cdef readonly object hardware
    cdef readonly Cpu cpu
    cdef readonly Command command
    cdef public long long io_start_ps
    cdef public bint token
    cpdef int begin(self, Bio bio, Cpu cpu, long long now_ps) except -1
