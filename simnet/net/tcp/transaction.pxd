from simnet.host.cpu cimport Cpu, Occupation
from simnet.kernel.histogram cimport LogHistogram
from simnet.kernel.priority cimport NIC
from simnet.kernel.random cimport RandomStream
from simnet.net.tcp.process cimport SCHEDULED_IN, USER_CODE
from simnet.net.tcp.reader cimport TcpReader
from simnet.net.tcp.socket cimport TcpSocket

cdef class TcpTransactor(TcpReader):
    cdef readonly tuple sends_bytes
    cdef Py_ssize_t unsent
    cdef readonly long long expects_bytes
    cdef readonly bint begins
    cdef long long missing
    cdef readonly long long started_ps
    cdef readonly long long transactions
    cdef readonly LogHistogram one_way
    cdef long long service_ps
    cdef long long think_ps
    cdef RandomStream thinks
    cdef bint thought
    cdef Occupation timer
    cdef bint _ends_or_thinks(self) except? -1
    cdef int _next_call(self, Cpu cpu) except -1
    cdef int _leave(self, Cpu cpu) except -1
    cpdef void step(self, Cpu cpu) except *
