from simnet.host.cpu cimport Cpu
from simnet.net.nic.multiqueue cimport MultiqueuePort
from simnet.net.nic.port cimport Nic
from simnet.net.link.skb cimport Header, Skb
from simnet.net.tcp.socket cimport TcpSocket
from simnet.net.link.wire cimport Port
from simnet.net.steering.flow_hash cimport jhash2_3words

cpdef long long socket_hash(Header header, long long secret, long long hashrnd) except? -1

cdef class SocketQueue(Port):
    cdef MultiqueuePort port
    cdef TcpSocket socket
    cdef bint rule_steers
    cdef bint rule_waits
    cdef long long word
    cdef int hashed
    cdef readonly int number
    cdef readonly Nic queue
    cdef long long posted
    cdef readonly long long moves
    cdef int _pick(self, Cpu cpu) except -1
    cdef bint _ooo_okay(self) except? -1
