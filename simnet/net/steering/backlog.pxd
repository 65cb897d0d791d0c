from simnet.host.accounting cimport SOFTIRQ, SOFT_LEVEL
from simnet.host.buffers cimport Buffers
from simnet.host.costs cimport Costs, Spread
from simnet.host.cpu cimport Cpu
from simnet.host.ledger cimport Ledger
from simnet.host.memory cimport SharedLines
from simnet.host.softirq.softirq cimport Napi, SoftirqNetRx
from simnet.host.softirq.verdict cimport POLL_CONTINUES, POLL_DONE, POLL_MORE
from simnet.net.link.skb cimport Skb, SkbQueue

cdef class Backlog(Napi):
    cdef Costs costs
    cdef Ledger ledger
    cdef Buffers buffers
    cdef readonly SharedLines lines
    cdef int most
    cdef bint batches
    cdef readonly SkbQueue input_queue
    cdef SkbQueue taken
    cdef Skb current
    cdef readonly long long head
    cdef readonly long long tail
    cdef readonly bint accepted
    cdef int limit
    cdef int done
    cdef long long start_jiffy
    cdef bint completed
    cdef bint in_stack
    cdef public Spread spread
    cdef readonly long long processed
    cdef readonly long long drops
    cdef readonly long long received_rps
    cpdef long long enqueue(self, Skb skb, Cpu cpu) except? -1
    cdef int _leave(self, SoftirqNetRx softirq, int verdict) except? -1
    cdef int _next_packet(self, Cpu cpu, SoftirqNetRx softirq) except? -1
    cdef int _take_all(self, SoftirqNetRx softirq) except -1
    cpdef void step(self, Cpu cpu) except *
