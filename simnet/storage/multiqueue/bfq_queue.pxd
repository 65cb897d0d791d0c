from simnet.storage.block.request cimport IoContext, Request
from simnet.storage.block.sort_list cimport SortList

cdef class BfqQueue:
    cdef readonly IoContext context
    cdef readonly long long weight
    cdef readonly SortList sort_list
    cdef readonly object fifo
    cdef public Request next
    cdef public object start
    cdef public object finish
    cdef public long long budget
    cdef public long long service
    cdef public long long max_budget
    cdef public long long dispatched
    cdef public bint active
    cdef public bint waits
    cdef public bint ran_out
    cdef public bint fifo_checked
    cdef public long long timeout
    cdef public long long begun_jiffy
    cdef public long long last_done_ps
    cdef readonly long long last_end
    cdef readonly long long seeks

cdef class ServiceTree:
    cdef public object vtime
    cdef readonly list active
    cdef readonly list idle
    cdef public BfqQueue in_service
