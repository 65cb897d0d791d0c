from simnet.storage.block.elevator cimport Elevator
from simnet.storage.block.request cimport Bio, Request
from simnet.storage.block.sort_list cimport MergeHash, SortList

cdef class Deadline(Elevator):
    cdef public tuple sort_list
    cdef public tuple fifo
    cdef public MergeHash hash
    cdef public list next
    cdef public long long batching
    cdef public long long last_sector
    cdef public long long starved
    cdef public tuple fifo_expire
    cdef public long long writes_starved
    cdef public long long fifo_batch
    cdef public bint front_merges
