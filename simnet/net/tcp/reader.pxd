from simnet.host.cpu cimport Cpu
from simnet.net.tcp.process cimport BACKLOG, BACKLOG_EXIT, BACKLOG_WAIT, BEFORE_SLEEP, COPIED, PREQUEUED, SCHEDULED_IN, USER_CODE, WOKEN, SocketTask
from simnet.net.tcp.receive.ucopy cimport Ucopy
from simnet.net.tcp.socket cimport TcpSocket

cdef class TcpReader(SocketTask):
    cdef readonly long long recv_bytes
    cdef long long room
    cdef long long got
    cdef bint finishing
    cdef int _loop(self, Cpu cpu) except -1
    cdef bint _next_prequeue(self, Cpu cpu) except? -1
    cdef int _leave(self, Cpu cpu) except -1
    cdef int _chunk(self) except -1
    cdef int _finish(self, Cpu cpu) except -1
    cdef int _wait(self, Cpu cpu) except -1
    cpdef void step(self, Cpu cpu) except *
