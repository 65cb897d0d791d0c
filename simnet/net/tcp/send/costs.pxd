from simnet.host.buffers cimport Buffers
from simnet.host.cache cimport CacheWays
from simnet.host.costs cimport Costs
from simnet.host.cpu cimport Cpu
from simnet.host.ledger cimport Ledger
from simnet.host.memory cimport Memory
from simnet.net.link.skb cimport Skb, SkbQueue
from simnet.net.link.wire cimport Port
from simnet.net.tcp.send.sequence cimport SendSequence

cdef class SendCosts:
    cdef Costs costs
    cdef Ledger ledger
    cdef Memory memory
    cdef Buffers buffers
    cdef SendSequence seq
    cdef Port nic
    cdef bint checksums
    cdef bint gso
    cdef int per_large
    cdef bint overlaps
    cdef CacheWays core_cache
    cdef Cpu toucher

    cdef int init(
        self, Costs costs, Memory memory, Buffers buffers, SendSequence seq, Port nic,
        bint checksum_by_cpu, bint gso, int per_large
    ) except -1
    cdef int leave_by(self, Port nic) except -1
    cpdef long long copy_ps(self, Cpu cpu, long long length) except? -1
    cdef long long _written_back_ps(self, long long lines) except? -1
    cdef long long staged_ps(self, Cpu cpu, SkbQueue staged, long long frames) except? -1
    cdef int probed(self, Cpu cpu) except -1
    cdef long long ack_ps(self, Cpu cpu, int wire_bytes) except? -1
    cdef long long freed_ps(self, Cpu cpu, long long acked) except? -1
