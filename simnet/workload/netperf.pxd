from simnet.net.tcp_process cimport TcpReader, TcpWriter

cdef class Netserver(TcpReader):
    pass

cdef class Netperf(TcpWriter):
    pass
