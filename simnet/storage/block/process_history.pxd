from simnet.storage.block.request cimport Request

cdef class ThinkHistory:
    cdef public long long ttime_samples
    cdef public long long ttime_total
    cdef public long long ttime_mean
    cdef public long long last_end_request

cdef class SeekHistory(ThinkHistory):
    cdef public long long seek_samples
    cdef public long long seek_total
    cdef public long long seek_mean
    cdef public long long last_request_pos

cdef class ProcessHistory(SeekHistory):
    cdef public bint running
    cdef public bint io_started
    cdef public bint io_running
    cdef public long long nr_queued
    cdef public long long nr_dispatched
