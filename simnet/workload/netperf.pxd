from simnet.net.tcp.reader cimport TcpReader
from simnet.net.tcp.writer cimport TcpWriter
from simnet.net.tcp.transaction cimport TcpTransactor

cdef class Netserver(TcpReader):
    pass

cdef class Netperf(TcpWriter):
    pass

cdef class Requester(TcpTransactor):
    pass

cdef class Responder(TcpTransactor):
    pass
