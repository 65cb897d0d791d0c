from simnet.storage.block.elevator cimport Elevator
from simnet.storage.block.process_history cimport ProcessHistory
from simnet.storage.block.request cimport Bio, Request

cdef class Anticipation(Elevator):
    cdef public list last_sector
    cdef public int batch_kind
    cdef public int status
    cdef public long long antic_start
    cdef public long long antic_expire
    cdef public ProcessHistory process
    cdef public bint process_finished
    cdef public long long exit_prob
    cdef public long long exit_no_coop
    cdef public long long new_ttime_total
    cdef public long long new_ttime_mean
    cdef public long long new_seek_total
    cdef public long long new_seek_mean
