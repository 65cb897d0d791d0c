from simnet.host.cpu cimport Cpu
from simnet.net.tcp.process cimport SCHEDULED_IN, SEND_COPIED, SocketTask
from simnet.net.tcp.send.sequence cimport SendSequence
from simnet.net.tcp.socket cimport TcpSocket

cdef class TcpWriter(SocketTask):
    cdef readonly long long message_bytes
    cdef int sends
    cdef long long user_ps
    cdef int _begin(self, Cpu cpu) except -1
    cpdef void step(self, Cpu cpu) except *
