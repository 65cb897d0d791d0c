from simnet.host.costs cimport Costs
from simnet.host.cpu cimport Cpu
from simnet.host.scheduler cimport Task
from simnet.net.skb cimport Skb
from simnet.net.tcp_socket cimport TcpSocket

cdef class SocketTask(Task):
    cdef readonly TcpSocket socket
    cdef Costs costs
    cdef int state
    cdef Skb skb
    cdef long long debt_ps
    cdef bint direct
    cdef bint moved
    cdef readonly long long calls
    cdef long long _take_debt(self) except? -1
    cdef void _run_system(self, Cpu cpu, int state, long long work_ps) except *
    cdef bint _next_backlog(self, Cpu cpu, int state, bint direct) except? -1
    cdef void _processed(self, Cpu cpu) except *

cdef class TcpReader(SocketTask):
    cdef readonly long long recv_bytes
    cdef long long room
    cdef long long got
    cdef bint finishing
    cdef void _loop(self, Cpu cpu) except *
    cdef bint _next_prequeue(self, Cpu cpu) except? -1
    cdef void _chunk(self) except *
    cdef void _finish(self, Cpu cpu) except *
    cdef void _wait(self, Cpu cpu) except *

cdef class TcpWriter(SocketTask):
    cdef readonly long long message_bytes
    cdef long long left
    cdef long long piece
    cdef int sends
    cdef void _send(self, Cpu cpu) except *
    cdef void _release(self, Cpu cpu) except *
