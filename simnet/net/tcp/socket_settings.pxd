from simnet.host.buffers cimport Buffers
from simnet.host.costs cimport Costs
from simnet.host.memory cimport Memory
from simnet.kernel.histogram cimport LogHistogram
from simnet.kernel.simulator cimport Simulator
from simnet.net.link.wire cimport Port
from simnet.net.steering.steering cimport SocketFlowTable
from simnet.net.tcp.wakeups cimport Wakeups

cdef class SocketSettings:
    cdef readonly Simulator sim
    cdef Port nic
    cdef Costs costs
    cdef Memory memory
    cdef Buffers buffers
    cdef Wakeups wakeups
    cdef LogHistogram latency
    cdef SocketFlowTable flows
    cdef int shared_lines
    cdef long long jiffy_ps
    cdef int overhead_bytes
    cdef int page_bytes
    cdef int per_large
    cdef bint low_latency
    cdef bint checksum_by_cpu
    cdef bint gso
