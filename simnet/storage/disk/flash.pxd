from simnet.storage.disk.command cimport Command
from simnet.storage.disk.drive cimport Drive

cdef class FlashDisk(Drive):
    cdef readonly long long page_sectors
    cdef readonly list channel_free_ps
    cdef readonly long long buffer_pages
    cdef readonly list programs
    cdef readonly long long page_reads
    cdef readonly long long page_programs
    cdef int _begin(self, Command command) except -1
    cpdef void on_event(self, int kind, long long arg) except *
