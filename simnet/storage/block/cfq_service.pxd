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
