from simnet.kernel.component cimport Component

cpdef enum:
    READ = 0
    FULL = 1
    PART = 2
    REBUILD = 3

cpdef enum:
    READING = 0
    WORKING = 1
    WRITING = 2

cdef class TrackOp

cdef class TrackOwner(Component):
    cpdef int track_done(self, TrackOp op) except -1

cdef class TrackOp:
    cdef public TrackOwner owner
    cdef public object tag
    cdef public int kind
    cdef public int stage
    cdef public long long slot
    cdef public int nsd
    cdef public long long track
    cdef public int array
    cdef public int start
    cdef public int spare
    cdef public int stride
    cdef public long long sector
    cdef public long long begin
    cdef public long long end
    cdef public int first
    cdef public int last
    cdef public long long low
    cdef public long long high
    cdef public long long asked
    cdef public int waiting
    cdef public long long ready_ps
    cdef public long long begun_ps

cdef class TrackLayout:
    cdef int width
    cdef int count
    cdef int arrays
    cdef int row_tracks
    cdef readonly long long strip_sectors
    cdef readonly long long tracks
    cdef long long first_sector
    cdef long long slots_each
    cdef int[::1] strides
    cdef int stride_count
    cpdef int locate(self, TrackOp op) except -1
    cpdef int member(self, TrackOp op, int index) except -1

cpdef unsigned long long mix(unsigned long long value) noexcept
