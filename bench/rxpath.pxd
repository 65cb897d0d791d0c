cimport cython

from simnet.kernel.component cimport Component
from simnet.kernel.priority cimport NIC


@cython.freelist(8192)
@cython.final
cdef class Packet:
    cdef public int port
    cdef public long long sequence
    cdef public int size_bytes
    cdef public long long arrived_ps
    cdef Packet behind


@cython.final
cdef class PacketQueue:
    cdef public int length
    cdef Packet head
    cdef Packet tail

    cdef int push(self, Packet packet) except -1
    cdef Packet pop(self)


@cython.final
cdef class Cpu(Component):
    cdef long long free_ps

    cdef int submit(self, long long cost_ps, Component target, int kind) except -1


cdef class Napi(Component)


cdef class Nic(Component):
    cdef readonly long long arrivals, drops, irqs
    cdef int port
    cdef long long end_ps, gap_ps
    cdef PacketQueue ring
    cdef Napi napi
    cdef bint irq_enabled, armed
    cdef int coalesced
    cdef long long generation

    cdef int fire(self) except -1


cdef class Napi(Component):
    cdef readonly long long polls, delivered, acks
    cdef Nic nic
    cdef Cpu cpu
    cdef Application application
    cdef long long frame_cost_ps
    cdef int done
    cdef Packet frame

    cdef int next_frame(self) except -1


cdef class Application(Component):
    cdef readonly long long wakeups, copied, latency_ps
    cdef Cpu cpu
    cdef PacketQueue socket
    cdef bint blocked

    cdef int receive(self, Packet packet) except -1
    cdef int wake(self) except -1
    cdef int copy_next(self) except -1
