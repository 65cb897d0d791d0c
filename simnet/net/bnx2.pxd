from simnet.host.cpu cimport Cpu
from simnet.host.softirq cimport SoftirqNetRx
from simnet.net.nic cimport Nic
from simnet.net.tg3 cimport Tg3

cdef class Bnx2(Tg3):
    pass
