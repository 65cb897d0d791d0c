from simnet.host.costs cimport Costs
from simnet.host.cpu cimport Cpu
from simnet.host.scheduler cimport Task
from simnet.net.link.skb cimport Skb, SkbQueue
from simnet.net.tcp.send.sequence cimport SendSequence
from simnet.net.tcp.socket cimport TcpSocket

cdef class SocketTask(Task):
    cdef readonly TcpSocket socket
    cdef Costs costs
    cdef int state
    cdef Skb skb
    cdef Skb second
    cdef readonly long long debt_ps
    cdef bint direct
    cdef bint moved
    cdef readonly long long calls
    cdef long long left
    cdef long long _take_debt(self) except? -1
    cdef int _run_system(self, Cpu cpu, int state, long long work_ps) except -1
    cdef bint _next_from(self, Cpu cpu, SkbQueue queue, int state, bint direct) except? -1
    cdef bint _next_backlog(self, Cpu cpu, int state, bint direct) except? -1
    cdef int _processed(self, Cpu cpu) except -1
    cdef bint _continue_send(self, Cpu cpu) except? -1
    cdef int _send(self, Cpu cpu) except -1
    cdef long long _to_end_of_segment(self, long long piece) except? -1
    cdef int _copy(self, Cpu cpu, long long work_ps) except -1
    cdef int _sent(self, Cpu cpu) except -1

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

cdef class TcpWriter(SocketTask):
    cdef readonly long long message_bytes
    cdef int sends
    cdef long long user_ps
    cdef int _begin(self, Cpu cpu) except -1
    cpdef void step(self, Cpu cpu) except *
