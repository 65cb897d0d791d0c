from simnet.storage.block.cfq_queue cimport CfqContext, CfqQueue
from simnet.storage.block.cfq_service cimport CfqService
from simnet.storage.block.request cimport Bio, Request
from simnet.storage.block.sort_list cimport MergeHash

cdef class Cfq(CfqService):
    cdef public MergeHash hash
    cdef public long long rq_in_driver
    cdef public bint hw_tag
    cdef public long long last_sector
    cdef public tuple fifo_expire
    cdef public tuple slice
