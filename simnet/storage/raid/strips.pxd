from simnet.storage.nsd.cpu_pool cimport CpuPool
from simnet.storage.raid.pdisk cimport Pdisk, SasPath, Strip, StripOwner, new_strip
from simnet.storage.raid.track cimport REBUILD, WRITING, TrackLayout, TrackOp

cdef class TrackStrips(StripOwner):
    cdef readonly object model
    cdef readonly TrackLayout layout
    cdef int width
    cdef int data
    cdef int count
    cdef int arrays
    cdef long long strip_sectors
    cdef long long most_sectors
    cdef readonly list disks
    cdef readonly list lanes
    cdef readonly SasPath adapter
    cdef CpuPool cpus
    cdef long long parity_ps_kib
    cdef list spare
    cdef int spares
    cdef readonly int failures
    cdef public long long[::1] rebuilt_to
    cdef public int[::1] lost_disk
    cdef readonly long long reconstructed
    cpdef int disk_of(self, TrackOp op, int index) except? -1
    cdef int _lost_strip(self, TrackOp op) except? -1
    cdef bint _ask(self, TrackOp op, int index, long long low, long long high, bint write) except? -1
    cdef Strip _command(self, TrackOp op, int index, long long sector, long long sectors, bint write)
    cdef int _spare(self, Strip strip) except -1
    cdef long long _low(self, TrackOp op, int index) except? -1
    cdef long long _high(self, TrackOp op, int index) except? -1
    cdef bint _works(self, TrackOp op, int index) except? -1
    cdef int _read_range(self, TrackOp op) except -1
    cdef int _decode(self, TrackOp op, long long sectors) except -1
    cdef int _read_others(self, TrackOp op, long long low, long long high, int count) except -1
    cdef int _read_for_parity(self, TrackOp op) except -1
