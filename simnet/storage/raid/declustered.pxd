from simnet.kernel.priority cimport CPU
from simnet.storage.raid.pdisk cimport Pdisk, Strip
from simnet.storage.raid.strips cimport TrackStrips
from simnet.storage.raid.track cimport FULL, PART, READ, READING, REBUILD, WORKING, WRITING, TrackOp, TrackOwner

cdef class DeclusteredRaid(TrackStrips):
    cdef long long check_ps_kib
    cdef list ops
    cdef list free
    cdef readonly long long reads
    cdef readonly long long full_writes
    cdef readonly long long part_writes
    cdef readonly long long rebuilt
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
    cdef int _write_strips(self, TrackOp op) except -1
    cpdef int strip_done(self, Strip strip) except -1
    cdef int _replace(self, Strip strip) except -1
