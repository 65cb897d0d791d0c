from simnet.host.accounting cimport SYSTEM
from simnet.net.tcp.epoll cimport EpollItem
from simnet.net.tcp.socket cimport TcpSocket
from simnet.workload.epoll_worker cimport EpollWorker
from simnet.workload.mutilate cimport MutilateConnection

cdef class MemcachedConnection(EpollItem):
    cdef readonly TcpSocket socket
    cdef readonly MutilateConnection client
    cdef readonly long long got

cdef class MemcachedWorker(EpollWorker):
    cdef MemcachedConnection connection
    cdef readonly long long requests
