from simnet.kernel.priority cimport CPU
from simnet.storage.nsd.cpu_pool cimport CpuPool
from simnet.storage.raid.pdisk cimport Pdisk, SasPath, Strip, StripOwner, new_strip
from simnet.storage.raid.track cimport TrackLayout, TrackOp, TrackOwner

cdef class DeclusteredRaid(StripOwner):
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
    cdef long long check_ps_kib
    cdef long long parity_ps_kib
    cdef list ops
    cdef list free
    cdef readonly int failures
    cdef public long long[::1] rebuilt_to
    cdef public int[::1] lost_disk
    cdef readonly long long reads
    cdef readonly long long full_writes
    cdef readonly long long part_writes
    cdef readonly long long rebuilt
    cdef readonly long long reconstructed
    cdef readonly long long unwritten
    cdef readonly long long read_ps
    cdef readonly long long write_ps
    cdef readonly long long busy
    cpdef int read(self, int nsd, long long track, long long begin, long long end, TrackOwner owner, object tag) except -1
    cpdef int write(self, int nsd, long long track, long long begin, long long end, TrackOwner owner, object tag) except -1
    cpdef bint rebuild(self, int nsd, long long track, TrackOwner owner) except? -1
    cdef TrackOp _begin(self, int kind, int nsd, long long track, long long begin, long long end, TrackOwner owner, object tag)
    cdef int _end(self, TrackOp op) except -1
    cdef int _next_stage(self, TrackOp op) except -1
    cpdef void on_event(self, int kind, long long arg) except *
    cdef int _done(self, TrackOp op) except -1
    cdef int _work(self, TrackOp op) except -1
    cpdef int disk_of(self, TrackOp op, int index) except? -1
    cdef int _lost_strip(self, TrackOp op) except? -1
    cdef bint _ask(self, TrackOp op, int index, long long low, long long high, bint write) except? -1
    cdef long long _low(self, TrackOp op, int index) except? -1
    cdef long long _high(self, TrackOp op, int index) except? -1
    cdef bint _works(self, TrackOp op, int index) except? -1
    cdef int _read_range(self, TrackOp op) except -1
    cdef int _decode(self, TrackOp op, long long sectors) except -1
    cdef int _read_others(self, TrackOp op, long long low, long long high, int count) except -1
    cdef int _read_for_parity(self, TrackOp op) except -1
    cdef int _write_strips(self, TrackOp op) except -1
    cpdef int strip_done(self, Strip strip) except -1
    cdef int _replace(self, Strip strip) except -1
