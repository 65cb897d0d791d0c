from simnet.host.accounting cimport PROCESS_LEVEL, SOFTIRQ, SOFT_LEVEL, SYSTEM
from simnet.host.costs cimport Costs
from simnet.host.cpu cimport Cpu
from simnet.host.scheduler cimport Task
from simnet.net.link.skb cimport Skb, SkbQueue
from simnet.net.tcp.send.sequence cimport SendSequence
from simnet.net.tcp.socket cimport TcpSocket

cdef enum:
    SCHEDULED_IN = 0
    USER_CODE = 1
    COPIED = 3
    PREQUEUED = 4
    BACKLOG = 5
    BACKLOG_WAIT = 6
    BACKLOG_EXIT = 7
    BEFORE_SLEEP = 8
    WOKEN = 9
    SEND_COPIED = 20
    SEND_BACKLOG = 21
    SEND_BACKLOG_WAIT = 22
    SEND_BEFORE_SLEEP = 23
    SEND_WOKEN = 24

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
    cdef int _to_user(self, Cpu cpu, long long user_ps) except -1
    cdef bint _next_from(self, Cpu cpu, SkbQueue queue, int state, bint direct) except? -1
    cdef bint _next_backlog(self, Cpu cpu, int state, bint direct) except? -1
    cdef int _processed(self, Cpu cpu) except -1
    cdef bint _continue_send(self, Cpu cpu) except? -1
    cdef int _send(self, Cpu cpu) except -1
    cdef long long _to_end_of_segment(self, long long piece) except? -1
    cdef int _copy(self, Cpu cpu, long long work_ps) except -1
    cdef int _sent(self, Cpu cpu) except -1
