from simnet.host.accounting cimport SOFT_LEVEL
from simnet.host.cpu cimport Cpu
from simnet.host.softirq.softirq cimport Napi, SoftirqNetRx
from simnet.host.softirq.verdict cimport POLL_CONTINUES, POLL_DONE
from simnet.net.link.skb cimport Endpoint

cdef class TsqTasklet(Napi):
    cdef Endpoint endpoint
