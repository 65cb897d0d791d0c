from simnet.host.cpu cimport Cpu, VirtualProcessor
from simnet.kernel.component cimport Component
from simnet.kernel.sentinel cimport NEVER

cdef class LogicalPartition:
    cdef readonly object name
    cdef readonly long long entitled_ps
    cdef readonly bint takes_spare
    cdef readonly long long weight
    cdef readonly long long phase_ps
    cdef readonly long long spare
    cdef readonly list processors

cdef class SharedProcessor(VirtualProcessor):
    cdef readonly ProcessorPool pool
    cdef readonly LogicalPartition partition
    cdef readonly list cpus
    cdef readonly long long part_ps
    cdef readonly long long left_ps
    cdef readonly long long window_end_ps
    cdef readonly int state
    cdef long long since_ps
    cdef long long used_ps
    cdef long long slice_end_ps
    cdef long long ready_number
    cdef long long timer
    cdef long long counted_ps
    cdef int executing
    cdef readonly long long dispatches
    cdef readonly long long cedes

    cpdef int work_arrived(self, Cpu cpu) except -1
    cpdef int became_idle(self, Cpu cpu) except -1
    cpdef int changed(self, Cpu cpu) except -1
    cdef int _count(self) except -1
    cdef int _use(self) except -1
    cpdef long long total_ps(self) except? -1
    cdef int _refill(self, long long window_ps) except -1
    cdef int _dispatch(self, long long delay_ps) except -1
    cdef int _preempt(self) except -1
    cpdef void on_event(self, int kind, long long arg) except *

cdef class ProcessorPool(Component):
    cdef readonly int count
    cdef readonly long long window_ps
    cdef long long dispatch_ps
    cdef long long slice_ps
    cdef long long phase_ps
    cdef readonly list processors
    cdef readonly list partitions
    cdef long long number
    cdef long long timer
    cdef long long timer_ps

    cpdef long long next_number(self) except? -1
    cpdef int request(self, SharedProcessor processor) except -1
    cdef int _join(self, SharedProcessor joining) except -1
    cpdef int released(self) except -1
    cpdef int running(self, SharedProcessor processor) except -1
    cdef int _look_at(self, long long when) except -1
    cdef int _choose(self) except -1
    cdef bint _eligible(self, SharedProcessor processor) except? -1
    cdef int _class(self, SharedProcessor processor) except? -1
    cdef bint _before(self, SharedProcessor one, SharedProcessor other) except? -1
    cdef int _arm(self) except -1
    cpdef void on_event(self, int kind, long long arg) except *
