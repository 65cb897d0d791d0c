from simnet.storage.block.request cimport Bio, IoContext, Request
from simnet.storage.block.sort_list cimport MergeHash
from simnet.storage.multiqueue.bfq_queue cimport BfqQueue, ServiceTree
from simnet.storage.multiqueue.request cimport MqRequest
from simnet.storage.multiqueue.scheduler cimport MqScheduler

cdef class Bfq(MqScheduler):
    cdef readonly list trees
    cdef readonly dict queues
    cdef MergeHash hash
    cdef readonly BfqQueue in_service
    cdef readonly long long waiting
    cdef long long last_position
    cdef readonly list expired
    cdef long long slice_idle_ps
    cdef long long timeout
    cdef long long max_budget
    cdef long long fifo_expire
    cdef long long back_sectors
    cdef long long back_penalty
