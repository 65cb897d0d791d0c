from simnet.storage.block.elevator cimport Elevator
from simnet.storage.block.process_history cimport ProcessHistory
from simnet.storage.block.request cimport Request

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
    cdef bint waiting(self) except -1
    cdef ProcessHistory _history(self, Request request)
    cdef int _wait_next(self) except -1
    cpdef int _wait_request(self) except -1
    cdef int _stop(self) except -1
    cpdef int _update_history(self, ProcessHistory process, Request request) except -1
    cpdef bint _close(self, ProcessHistory process, Request request) except -1
    cpdef bint _can_break(self, Request request) except -1
    cdef bint _unlikely_to_return(self, ProcessHistory process) except -1
    cpdef bint _can_anticipate(self, Request request) except -1
    cpdef int timer(self, int number) except -1
    cpdef int work(self) except -1
