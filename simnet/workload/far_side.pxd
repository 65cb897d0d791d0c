cimport cython

from simnet.kernel.simulator cimport Simulator
from simnet.net.link.skb cimport Header
from simnet.net.remote.hosts cimport RemoteHosts
from simnet.net.tcp.endpoint cimport TcpEndpoint
from simnet.net.tcp.receive.receiver cimport new_receiver
from simnet.net.tcp.receive.settings cimport ReceiverSettings
from simnet.net.tcp.send.sender cimport new_sender
from simnet.net.tcp.send.settings cimport SenderSettings
from simnet.net.tcp.socket cimport TcpSocket

@cython.final
cdef class FarSide:
    cdef readonly RemoteHosts far
    cdef readonly object make_socket
    cdef readonly SenderSettings sender
    cdef readonly ReceiverSettings receiver
    cdef readonly long long jiffy_ps
    cdef readonly int overhead_bytes
    cdef readonly object make_header
    cdef readonly long long service_ps

    cpdef TcpSocket connect(self, Simulator sim, int number, object application, str path)
