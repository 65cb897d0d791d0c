from simnet.host.cpu cimport Cpu
from simnet.host.softirq.softirq cimport SoftirqNetRx
from simnet.host.softirq.verdict cimport POLL_DONE, POLL_MORE
from simnet.net.link.ethernet cimport UNCOUNTED_BYTES
from simnet.net.nic.e1000 cimport E1000
from simnet.net.nic.port cimport Nic
from simnet.net.link.skb cimport Skb

cpdef int update_itr(int latency, long long packets, long long size) except? -1
cpdef long long throttle_interval_ps(long long rate) except? -1

cdef class E1000e(E1000):
    cdef int mode
    cdef readonly long long rate
    cdef int rx_latency
    cdef int tx_latency
    cdef long long rx_total_packets
    cdef long long rx_total_bytes
    cdef long long tx_total_packets
    cdef long long tx_total_bytes
    cdef long long[::1] tx_lengths
    cdef int _set_itr(self) except -1
    cdef int _judged(self, int latency, long long packets, long long size) except? -1
