from simnet.net.tcp.process cimport TcpReader, TcpWriter
from simnet.net.tcp.transaction cimport TcpTransactor

cdef class Netserver(TcpReader):
    pass

cdef class Netperf(TcpWriter):
    pass

cdef class Requester(TcpTransactor):
    pass

cdef class Responder(TcpTransactor):
    pass
