from simnet.host.buffers cimport Buffers
from simnet.host.cache cimport CacheWays
from simnet.host.costs cimport Costs, Spread
from simnet.host.cpu cimport Cpu
from simnet.host.ledger cimport Ledger
from simnet.host.memory cimport Memory
from simnet.net.link.skb cimport Skb, SkbQueue
from simnet.net.tcp.receive.receiver cimport TcpReceiver

cdef class ReceiveCosts:
    cdef Costs costs
    cdef Ledger ledger
    cdef Memory memory
    cdef Buffers buffers
    cdef TcpReceiver receiver
    cdef SkbQueue backlog
    cdef bint checksums
    cdef readonly int page_bytes
    cdef readonly Spread spread
    cdef CacheWays cache
    cdef long long waiting
    cdef int home_node
    cdef int writer_node
    cdef Cpu toucher
    cdef long long merged_bytes
    cdef readonly long long collapses

    cdef int init(
        self, Costs costs, Memory memory, Buffers buffers, TcpReceiver receiver, SkbQueue backlog,
        int device_node, bint checksum_by_cpu, int page_bytes, Spread spread
    ) except -1
    cpdef long long segment_ps(self, Skb skb, Cpu cpu, bint copying) except? -1
    cdef int queued(self, Skb skb) except -1
    cpdef long long copy_ps(self, Cpu cpu, long long length, int home_node, int writer_node) except? -1
    cdef long long _cached_copy_ps(self, Cpu cpu, long long lines, int home_node, int writer_node) except? -1
    cdef long long _waiting(self) except? -1
    cpdef long long queued_copy_ps(self, Cpu cpu, long long length) except? -1
    cdef long long _freed_pages_ps(self, Cpu cpu, long long length, long long segments) except? -1
    cdef long long collapsed_ps(self) except? -1
