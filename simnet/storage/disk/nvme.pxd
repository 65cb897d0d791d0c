from simnet.kernel.priority cimport WIRE
from simnet.storage.disk.command cimport Command
from simnet.storage.disk.drive cimport Drive

cdef class NvmeDrive(Drive):
    cdef long long page_sectors
    cdef long long unit_sectors
    cdef long long buffer_sectors
    cdef long long extra_permille
    cdef long long read_ps
    cdef long long program_ps
    cdef long long sector_ps
    cdef readonly long long dies
    cdef long long[::1] die_free_ps
    cdef long long[::1] register_page
    cdef long long[::1] register_ps
    cdef list units
    cdef long long next_die
    cdef long long up_free_ps
    cdef long long down_free_ps
    cdef readonly long long held
    cdef long long unit_fill
    cdef long long extra_fill
    cdef object blocked
    cdef dict ends
    cdef readonly long long page_reads
    cdef readonly long long register_hits
    cdef readonly long long programs
    cdef readonly long long die_ps
    cdef int _read(self, Command command) except -1
    cdef int _accept(self, Command command) except -1
    cdef int _fill(self, Command command) except -1
    cdef bint _continues(self, Command command) except -1
    cdef int _give(self, bint buffered) except -1
    cdef int _program(self, long long die) except -1
    cdef int _programmed(self, long long die) except -1
    cpdef void on_event(self, int kind, long long arg) except *
