from simnet.host.cpu cimport VirtualProcessor
from simnet.host.idle cimport IdleStates
from simnet.kernel.component cimport Component
from simnet.kernel.priority cimport LAST

cdef enum:
    BLOCKED = 0
    READY = 1
    ARRIVING = 2
    RUNNING = 3

cdef class HostThread(VirtualProcessor):
    cdef readonly HostCpu host
    cdef readonly int state
    cdef readonly bint polls
    cdef long long virtual_ps
    cdef long long used_ps
    cdef readonly long long preemptions

    cpdef int resumed(self) except -1
    cpdef int preempted(self) except -1
    cpdef int stop_polling(self) except -1
    cpdef long long busy_ps(self) except? -1

cdef class HostCpu(Component):
    cdef readonly list threads
    cdef readonly int node
    cdef long long slice_ps
    cdef long long credit_ps
    cdef long long granularity_ps
    cdef long long switch_ps
    cdef IdleStates idle_states
    cdef HostThread running
    cdef list ready
    cdef long long since_ps
    cdef long long slice_end_ps
    cdef long long least_ps
    cdef long long timer
    cdef long long slice_timer

    cpdef int wake(self, HostThread thread) except -1
    cpdef int block(self, HostThread thread) except -1
    cdef int _use(self) except -1
    cdef int _start(self, HostThread thread, long long delay_ps) except -1
    cdef int _next(self) except -1
    cdef int _switch(self) except -1
    cdef int _arm(self) except -1
    cpdef void on_event(self, int kind, long long arg) except *
