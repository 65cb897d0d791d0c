from simnet.host.cpu cimport Cpu
from simnet.host.softirq.softirq cimport SoftirqNetRx
from simnet.host.softirq.verdict cimport POLL_DONE, POLL_MORE
from simnet.net.nic.port cimport Nic
from simnet.net.nic.tg3 cimport Tg3

cdef class Bnx2(Tg3):
    pass
