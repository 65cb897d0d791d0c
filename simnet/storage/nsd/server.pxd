from simnet.kernel.priority cimport CPU
from simnet.storage.nsd.cpu_pool cimport CpuPool
from simnet.storage.raid.declustered cimport DeclusteredRaid
from simnet.storage.nsd.nsd cimport NsdRequest
from simnet.storage.nsd.receiver cimport MessageReader
from simnet.storage.nsd.track_memory cimport TrackMemory
from simnet.storage.raid.track cimport TrackOp, TrackOwner

cdef class Frontend(MessageReader):
    cpdef int fetch(self, NsdRequest request) except -1
    cpdef int answer(self, NsdRequest request) except -1

cdef class NsdServer(TrackOwner):
    cdef Frontend frontend
    cdef readonly CpuPool cpus
    cdef readonly DeclusteredRaid raid
    cdef readonly object log
    cdef object dirty
    cdef long long block_bytes
    cdef long long strip_bytes
    cdef long long buffer_bytes
    cdef long long most_tracks
    cdef long long request_ps
    cdef long long net_ps_kib
    cdef long long small_bytes
    cdef long long inline_bytes
    cdef long long fast_bytes
    cdef readonly list free_threads
    cdef list queues
    cdef list slots
    cdef list free_slots
    cdef TrackMemory cache
    cdef dict loading
    cdef readonly long long requests
    cdef readonly long long active
    cdef long long active_ps
    cdef long long changed_ps
    cdef readonly long long waiting
    cdef readonly long long largest
    cdef readonly long long hits
    cdef readonly long long misses
    cdef readonly long long joined
    cdef readonly long long logged
    cdef readonly long long cached_bytes
    cdef readonly long long used_bytes
    cpdef int arrive(self, NsdRequest request) except -1
    cdef bint _start(self, NsdRequest request, int large) except? -1
    cpdef int answered(self, NsdRequest request) except -1
    cdef int _count(self, long long change) except -1
    cdef int _make_room(self) except -1
    cdef long long _mask_bytes(self, long long mask) except? -1
    cdef long long _strips(self, long long begin, long long end) except? -1
    cdef int _keep(self, long long key, long long begin, long long end) except -1
    cpdef void on_event(self, int kind, long long arg) except *
    cdef int _read(self, NsdRequest request) except -1
    cdef int _pass_on(self, NsdRequest request) except -1
    cdef int _send(self, NsdRequest request) except -1
    cpdef int take(self, NsdRequest request) except -1
    cpdef int track_done(self, TrackOp op) except -1
    cpdef int is_logged(self, NsdRequest request) except -1
