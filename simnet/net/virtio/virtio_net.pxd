from simnet.host.cpu cimport Cpu
from simnet.host.softirq.softirq cimport SoftirqNetRx
from simnet.kernel.priority cimport NIC
from simnet.kernel.sentinel cimport NEVER
from simnet.net.link.skb cimport Skb, SkbQueue
from simnet.net.nic.channel cimport Channel
from simnet.net.virtio.backend cimport Backend, RX, TX

cdef class VirtioNet(Channel):
    cdef readonly Backend backend
    cdef readonly SkbQueue avail
    cdef Skb building
    cdef int ring_size
    cdef long long kick_ps
    cdef long long irq_ps
    cdef long long latency_ps
    cdef bint charged
    cdef long long owed_ps
    cdef long long[::1] filled
    cdef long long claimed
    cdef long long taken
    cdef long long freed
    cdef long long average_bytes
    cdef bint injecting
    cdef readonly long long kicks

    cpdef int attach(self, Backend backend, long long kick_ps, long long irq_ps, long long latency_ps) except -1
    cpdef int claim(self, Skb skb) except -1
    cpdef int take_used(self, SkbQueue frames) except -1
    cpdef int take_sent(self, long long count) except -1
    cpdef bint wants_rx(self) except -1
    cpdef bint wants_tx(self, long long count) except -1
    cdef int _close(self) except -1
    cdef int _publish(self) except -1
    cdef int _delay_tx(self) except -1
    cpdef int frames_added(self) except -1
    cpdef void on_event(self, int kind, long long arg) except *
