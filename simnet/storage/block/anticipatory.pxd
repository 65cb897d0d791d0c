from simnet.storage.block.anticipation cimport Anticipation
from simnet.storage.block.process_history cimport ProcessHistory
from simnet.storage.block.request cimport Bio, Request
from simnet.storage.block.sort_list cimport MergeHash, SortList

cdef class Anticipatory(Anticipation):
    cdef public tuple sort_list
    cdef public tuple fifo
    cdef public MergeHash hash
    cdef public list next
    cdef public list last_check_fifo
    cdef public tuple fifo_expire
    cdef public tuple batch_expire
    cdef public bint changed_batch
    cdef public bint new_batch
    cdef public bint write_batch_idled
    cdef public long long nr_dispatched
    cdef public long long current_write_count
    cdef public long long current_batch_expires
    cdef public long long write_batch_count
