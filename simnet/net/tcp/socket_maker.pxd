from simnet.host.costs cimport Spread
from simnet.host.interrupt cimport IrqLine
from simnet.kernel.random cimport first_raw
from simnet.net.tcp.receive.receiver cimport new_receiver
from simnet.net.tcp.receive.settings cimport ReceiverSettings
from simnet.net.tcp.send.sender cimport new_sender
from simnet.net.tcp.send.settings cimport SenderSettings
from simnet.net.tcp.socket cimport TcpSocket
from simnet.net.tcp.socket_settings cimport SocketSettings

cdef class SocketMaker:
    cdef SocketSettings settings
    cdef SenderSettings sender
    cdef ReceiverSettings receiver
    cdef IrqLine line
    cdef object seed
    cdef long long spread_permille

    cpdef TcpSocket make(self, str path)
