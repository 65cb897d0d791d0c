from simnet.host.costs cimport Costs
from simnet.host.cpu cimport Cpu
from simnet.host.softirq.busy_poll cimport BusyPoller
from simnet.net.link.skb cimport Skb
from simnet.net.tcp.epoll cimport Epoll, EpollItem
from simnet.net.tcp.socket cimport TcpSocket
from simnet.workload.mutilate cimport MutilateConnection

cdef class MemcachedConnection(EpollItem):
    cdef readonly TcpSocket socket
    cdef readonly MutilateConnection client
    cdef readonly long long got

cdef class MemcachedWorker(BusyPoller):
    cdef readonly Epoll epoll
    cdef Costs costs
    cdef long long read_bytes
    cdef int max_events
    cdef int state
    cdef list ready
    cdef int position
    cdef MemcachedConnection connection
    cdef Skb skb
    cdef long long piece
    cdef long long debt_ps
    cdef long long busy_from_ps
    cdef readonly long long waits
    cdef readonly long long events
    cdef readonly long long sleeps
    cdef readonly long long requests
    cdef int _run_system(self, Cpu cpu, int state, long long work_ps) except -1
    cdef int _wait(self, Cpu cpu) except -1
    cdef int _take_events(self, Cpu cpu) except -1
    cdef int _next(self, Cpu cpu) except -1
    cdef int _read(self, Cpu cpu) except -1
    cdef int _has_received(self, Cpu cpu) except -1
    cdef int _leave_read(self, Cpu cpu) except -1
    cdef int _send(self, Cpu cpu) except -1
    cdef int _leave_send(self, Cpu cpu) except -1
    cdef bint _next_backlog(self, Cpu cpu, int state) except? -1
    cdef int _processed(self, Cpu cpu) except -1
    cpdef bint busy_loop_end(self) except -1
    cpdef int busy_loop_done(self, Cpu cpu) except -1
    cpdef void step(self, Cpu cpu) except *
