from simnet.host.cpu cimport Cpu
from simnet.host.softirq.softirq cimport Napi, SoftirqNetRx
from simnet.net.link.skb cimport Endpoint

cdef class TsqTasklet(Napi):
    cdef Endpoint endpoint
