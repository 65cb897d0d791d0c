cimport cython

from simnet.host.costs cimport Costs
from simnet.host.cpu cimport Cpu
from simnet.host.scheduler cimport Scheduler, Task
from simnet.kernel.prefetch cimport prefetch
from simnet.net.tcp.epoll cimport Epoll, EpollItem
from simnet.net.link.skb cimport Skb
from simnet.net.tcp.socket cimport TcpSocket

cdef class RelaySide(EpollItem):
    cdef readonly TcpSocket socket
    cdef public RelaySide partner
    cdef public long long message_bytes
    cdef readonly long long got
    cdef readonly long long left
    cdef readonly bint unread

    cdef long long messages(self, long long count) except? -1

cdef class RelayWorker(Task):
    cdef readonly Epoll epoll
    cdef Costs costs
    cdef readonly long long buffer_bytes
    cdef readonly int max_events
    cdef int state
    cdef list ready
    cdef int position
    cdef RelaySide side
    cdef RelaySide source
    cdef RelaySide sink
    cdef Skb skb
    cdef long long piece
    cdef long long debt_ps
    cdef readonly long long waits
    cdef readonly long long events
    cdef readonly long long receives
    cdef readonly long long received
    cdef readonly long long empty_receives
    cdef readonly long long sends
    cdef readonly long long sent
    cdef readonly long long full_sends
    cdef int _run_system(self, Cpu cpu, int state, long long work_ps) except -1
    cdef int _wait(self, Cpu cpu) except -1
    cdef int _next(self, Cpu cpu) except -1
    cdef int _serve(self, Cpu cpu) except -1
    cdef int _recv(self, Cpu cpu, RelaySide source) except -1
    cdef int _has_received(self, Cpu cpu) except -1
    cdef int _leave_recv(self, Cpu cpu) except -1
    cdef int _send(self, Cpu cpu) except -1
    cdef int _leave_send(self, Cpu cpu) except -1
    cdef bint _next_backlog(self, Cpu cpu, TcpSocket socket, int state) except? -1
    cdef int _processed(self, Cpu cpu, TcpSocket socket) except -1
    cpdef void step(self, Cpu cpu) except *
