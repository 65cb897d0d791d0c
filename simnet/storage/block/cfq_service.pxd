from simnet.storage.block.cfq_queue cimport CfqContext, CfqQueue
from simnet.storage.block.elevator cimport Elevator
from simnet.storage.block.request cimport IoContext, Request

cdef class CfqService(Elevator):
    cdef public list rr_lists
    cdef public list busy_rr
    cdef public list cur_rr
    cdef public list idle_rr
    cdef public long long busy_queues
    cdef public CfqQueue active
    cdef public CfqContext active_context
    cdef public long long cur_prio
    cdef public long long cur_end_prio
    cdef public long long dispatch_slice
    cdef public long long last_end_request
    cdef public long long slice_idle
    cdef public dict queues
    cdef int _resort(self, CfqQueue queue, bint preempted=*) except -1
    cpdef bint _next_priority(self) except -1
    cdef CfqQueue _activate(self, CfqQueue queue)
    cdef CfqQueue _set_active(self)
    cdef int _schedule_dispatch(self) except -1
    cpdef int _expire(self, CfqQueue queue, bint preempted=*) except -1
    cpdef CfqQueue _find(self, IoContext key, IoContext context)
    cpdef int allocated(self, Request request) except -1
    cpdef int freed(self, Request request) except -1
