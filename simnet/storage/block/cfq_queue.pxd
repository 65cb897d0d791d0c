from simnet.storage.block.process_history cimport SeekHistory
from simnet.storage.block.request cimport IoContext, Request
from simnet.storage.block.sort_list cimport SortList

cdef class CfqQueue:
    cdef public IoContext key
    cdef public str prio_class
    cdef public long long ioprio
    cdef public SortList sort_list
    cdef public object fifo
    cdef public Request next
    cdef public long long allocated
    cdef public long long dispatched
    cdef public long long slice_end
    cdef public long long slice_left
    cdef public long long service_last
    cdef public list place
    cdef public bint on_rr
    cdef public bint wait_request
    cdef public bint must_alloc_slice
    cdef public bint must_dispatch
    cdef public bint fifo_expire
    cdef public bint idle_window

cdef class CfqContext(SeekHistory):
    cdef public IoContext context
    cdef public list queues
