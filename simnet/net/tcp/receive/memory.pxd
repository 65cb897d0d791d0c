from simnet.net.tcp.receive.queue cimport ReceiveQueue
from simnet.net.tcp.receive.reassembly cimport Reassembly
from simnet.net.tcp.receive.sequence cimport ReceiveSequence
from simnet.net.tcp.receive.window cimport ReceiveWindow
from simnet.net.tcp.rules.receiver_version cimport ReceiverRules

cdef class ReceiveMemory:
    cdef ReceiveWindow window
    cdef ReceiveSequence seq
    cdef ReceiveQueue queue
    cdef Reassembly held
    cdef bint rule_collapses
    cdef bint rule_keeps_lower
    cdef int prune_batches
    cdef long long wasted_memory
    cdef readonly long long collapsed

    cdef int init(self, ReceiverRules rules, ReceiveWindow window, ReceiveSequence seq) except -1
    cdef long long take_collapsed(self) except? -1
    cdef bint schedule(self, long long seq) except? -1
