from simnet.host.accounting cimport SOFTIRQ

cimport cython

from simnet.kernel.prefetch cimport prefetch
from simnet.host.cpu cimport Cpu
from simnet.net.tcp.epoll cimport EpollItem
from simnet.net.tcp.socket cimport TcpSocket
from simnet.workload.epoll_worker cimport EpollWorker

cdef class RelaySide(EpollItem):
    cdef readonly TcpSocket socket
    cdef public RelaySide partner
    cdef public long long message_bytes
    cdef readonly long long got
    cdef readonly long long left
    cdef readonly bint unread

    cdef long long messages(self, long long count) except? -1

cdef class RelayWorker(EpollWorker):
    cdef RelaySide side
    cdef RelaySide source
    cdef RelaySide sink
    cdef readonly long long receives
    cdef readonly long long received
    cdef readonly long long empty_receives
    cdef readonly long long sends
    cdef readonly long long sent
    cdef readonly long long full_sends
    cdef int _go_on(self, Cpu cpu) except -1
    cdef int _receive_from(self, Cpu cpu, RelaySide source) except -1
