from simnet.net.qdisc.qdisc cimport Packet, PacketList

cpdef long long codel_time(long long time_ps) except? -1

cdef class CodelLimits:
    cdef long long target
    cdef long long interval
    cdef long long mtu

cdef class Codel:
    cdef CodelLimits limits
    cdef readonly PacketList waiting
    cdef PacketList dropped
    cdef readonly long long count
    cdef long long lastcount
    cdef readonly bint dropping
    cdef long long rec_inv_sqrt
    cdef long long first_above_time
    cdef readonly long long drop_next
    cpdef int penalise(self, long long drops) except -1
    cpdef Packet dequeue(self, long long now_ps, long long backlog)
    cdef bint _should_drop(self, Packet packet, long long now, long long backlog) except? -1
    cdef int _start(self, long long now) except -1
    cdef int _newton_step(self) except -1
    cdef long long _control_law(self, long long time) except? -1
