from simnet.kernel.component cimport Component
from simnet.kernel.priority cimport NIC
from simnet.kernel.sentinel cimport NEVER
from simnet.net.link.skb cimport Skb
from simnet.net.nic.port cimport Nic
from simnet.net.nic.transmit_ring cimport TransmitRing
from simnet.net.qdisc.dynamic_queue_limits cimport DynamicQueueLimits
from simnet.net.qdisc.egress cimport Egress
from simnet.net.qdisc.qdisc cimport Packet, Qdisc

cdef class Watchdog(Component):
    cdef Egress queue
    cdef long long timer
    cdef long long due_ps
    cdef int wake_at(self, long long when) except -1

cdef class NetdevQueue(Egress):
    cdef Nic nic
    cdef readonly Qdisc qdisc
    cdef readonly DynamicQueueLimits dql
    cdef long long jiffy_ps
    cdef bint gso
    cdef Packet opened
    cdef Skb requeued
    cdef Watchdog watchdog
    cdef long long[::1] ends
    cdef long long overhead_bytes
    cdef bint _joins(self, Skb skb, long long counted) except? -1
    cdef int _close(self) except -1
    cdef long long _run(self) except? -1
    cdef bint _send(self) except? -1
    cdef int _free_dropped(self) except -1
