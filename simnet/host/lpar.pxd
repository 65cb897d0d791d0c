from simnet.kernel.component cimport Component
from simnet.kernel.priority cimport CPU


cdef class Burst:
    cdef readonly Component owner
    cdef readonly int kind
    cdef readonly long long work_ps
    cdef readonly long long system_ps
    cdef readonly long long used_ps
    cdef long long end_ps
    cdef long long order
    cdef Burst next
    cdef bint before(self, Burst other) noexcept


cdef class LparCpu(Component):
    cdef readonly object cores
    cdef readonly long long busy
    cdef long long hardware
    cdef readonly long long done_ps
    cdef readonly long long system_done_ps
    cdef long long _clock_ps
    cdef long long _threads_ps
    cdef long long _last_ps
    cdef long long _order
    cdef long long _timer
    cdef list _queue
    cdef long long[::1] _speeds
    cdef long long[::1] _by_busy_ps

    cpdef int run(
        self, Component owner, int kind, long long work_ps, long long system_ps
    ) except -1
    cpdef int background(self, long long work_ps) except -1
    cdef int _add(self, Burst burst, long long work_ps, long long system_ps) except -1
    cdef int _push(self, Burst burst) except -1
    cdef Burst _pop(self)
    cdef long long _speed(self) except? -1
    cdef int _advance(self) except -1
    cdef int _aim(self) except -1
    cpdef void on_event(self, int kind, long long arg) except *
