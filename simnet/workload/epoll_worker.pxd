from simnet.host.accounting cimport PROCESS_LEVEL, SOFT_LEVEL, SYSTEM
from simnet.host.costs cimport Costs
from simnet.host.cpu cimport Cpu
from simnet.host.softirq.busy_poll cimport BusyPoller
from simnet.net.link.skb cimport Skb
from simnet.net.tcp.epoll cimport Epoll, EpollItem
from simnet.net.tcp.socket cimport TcpSocket

cdef class EpollWorker(BusyPoller):
    cdef readonly Epoll epoll
    cdef Costs costs
    cdef readonly long long buffer_bytes
    cdef readonly int max_events
    cdef int backlog_mode
    cdef int state
    cdef list ready
    cdef int position
    cdef TcpSocket socket
    cdef Skb skb
    cdef long long piece
    cdef long long debt_ps
    cdef long long busy_from_ps
    cdef readonly long long waits
    cdef readonly long long events
    cdef readonly long long sleeps
    cdef int _serve(self, Cpu cpu, EpollItem item) except -1
    cdef int _has_received(self, Cpu cpu) except -1
    cdef int _send(self, Cpu cpu) except -1
    cdef int _has_sent(self, Cpu cpu) except -1
    cdef int _run_system(self, Cpu cpu, int state, long long work_ps) except -1
    cdef int _run_application(self, Cpu cpu, long long user_ps) except -1
    cdef int _wait(self, Cpu cpu) except -1
    cdef int _take_events(self, Cpu cpu) except -1
    cdef int _next(self, Cpu cpu) except -1
    cdef int _enter(self, Cpu cpu, TcpSocket socket) except -1
    cdef int _receive(self, Cpu cpu, TcpSocket socket) except -1
    cdef int _leave_receive(self, Cpu cpu) except -1
    cdef int _copy_from_user(self, Cpu cpu) except -1
    cdef int _leave_send(self, Cpu cpu) except -1
    cdef bint _next_backlog(self, Cpu cpu, int state) except? -1
    cdef int _processed(self, Cpu cpu) except -1
    cpdef bint busy_loop_end(self) except -1
    cpdef int busy_loop_done(self, Cpu cpu) except -1
    cpdef void step(self, Cpu cpu) except *
