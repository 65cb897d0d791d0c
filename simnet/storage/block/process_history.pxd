from simnet.storage.block.request cimport Request

cpdef long long smoothed(long long total, long long value)

cdef class ThinkHistory:
    cdef public long long ttime_samples
    cdef public long long ttime_total
    cdef public long long ttime_mean
    cdef public long long last_end_request
    cpdef int add_think_time(self, long long ttime) except -1

cdef class SeekHistory(ThinkHistory):
    cdef public long long seek_samples
    cdef public long long seek_total
    cdef public long long seek_mean
    cdef public long long last_request_pos
    cpdef int add_seek(self, long long distance) except -1

cdef class ProcessHistory(SeekHistory):
    cdef public bint running
    cdef public bint io_started
    cdef public bint io_running
    cdef public long long nr_queued
    cdef public long long nr_dispatched
