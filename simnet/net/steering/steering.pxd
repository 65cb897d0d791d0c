from simnet.host.costs cimport Costs, Spread
from simnet.host.cpu cimport Cpu
from simnet.host.ledger cimport Ledger
from simnet.kernel.component cimport Component
from simnet.kernel.prefetch cimport prefetch
from simnet.net.steering.backlog cimport Backlog
from simnet.net.steering.flow_hash cimport connection_hash
from simnet.net.link.skb cimport Header, Skb

cdef class Steering:
    cdef int fetch(self, Skb skb) except -1
    cpdef long long deliver(self, Skb skb, Cpu cpu) except? -1

cdef class SocketFlowTable:
    cdef long long[::1] cpus
    cdef long long[::1] hashes
    cdef long long mask
    cdef long long tag_mask
    cdef int fetch(self, long long rxhash) except -1
    cpdef int record(self, long long rxhash, int cpu) except -1
    cpdef int reset(self, long long rxhash) except -1
    cpdef long long wanted(self, long long rxhash) except? -3

cdef class PacketSteering

cdef class Accelerator(Component):
    cpdef PacketSteering steer(self, PacketSteering current, Header header, long long cpu)

cdef class PacketSteering(Steering):
    cdef readonly object rules
    cdef list backlogs
    cdef Costs costs
    cdef Ledger ledger
    cdef long long[::1] map
    cdef long long map_length
    cdef SocketFlowTable sockets
    cdef readonly long long flow_mask
    cdef long long[::1] flow_cpus
    cdef long long[::1] flow_tails
    cdef long long[::1] flow_filters
    cdef readonly Accelerator accelerator
    cdef readonly int number
    cdef PacketSteering elsewhere
    cdef readonly bint steers
    cdef long long seed
    cdef bint device_hash
    cdef int hash_bits
    cdef int index_shift
    cdef bint symmetric
    cdef bint lookup3
    cdef public Spread spread
    cdef readonly long long steered
    cdef readonly long long local
    cdef readonly long long by_flow
    cdef readonly long long moves
    cdef long long _hash(self, Header header) except? -1
    cdef long long _flow_target(self, Header header, long long flow) except? -3
    cdef long long _set_cpu(self, Header header, long long flow, long long cpu) except? -3
