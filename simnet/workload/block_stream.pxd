from simnet.host.lpar cimport LparCpu
from simnet.kernel.priority cimport CPU
from simnet.kernel.random cimport RandomStream
from simnet.storage.nsd.nsd cimport NsdRequest
from simnet.storage.scale.pagepool cimport Buffer
from simnet.storage.scale.client cimport ScaleClient
from simnet.storage.scale.files cimport BlockUser, Handle


cdef class BlockStream(BlockUser):
    cdef ScaleClient client
    cdef LparCpu cpu
    cdef long long call_bytes
    cdef long long call_ps
    cdef long long copy_fs_per_byte
    cdef readonly long long used_ps
    cdef readonly long long read_bytes
    cdef readonly long long written_bytes
    cdef readonly long long io_wait_ps
    cdef object _done
    cdef long long _block_bytes
    cdef Handle _reading
    cdef Handle _writing
    cdef Buffer _buffer
    cdef long long _tile
    cdef long long _tiles
    cdef long long _held
    cdef long long _first
    cdef long long _ways
    cdef long long _end_bytes
    cdef long long _tile_bytes
    cdef long long _place_bytes
    cdef long long _unwritten_bytes
    cdef long long _write_left
    cdef long long _work_fs
    cdef long long _pause_fs
    cdef bint _whole
    cdef long long _compute_ps
    cdef long long _parts
    cdef RandomStream _random
    cdef long long _waits_from_ps

    cdef long long _block_of(self, long long tile) except? -1
    cdef bint _holds(self) except? -1
    cdef int _next(self) except -1
    cdef int _write(self) except -1
    cdef int _pause(self) except -1
    cdef int _wait(self) except -1
    cdef int _resume(self) except -1
    cpdef void block_ready(self, Handle handle) except *
    cpdef void on_event(self, int kind, long long arg) except *
    cdef long long _calls_ps(self, long long size_bytes) except? -1
    cdef int _finish(self) except -1
    cdef int _compute(self) except -1
    cdef int _call(self) except -1
    cpdef int request_done(self, NsdRequest request) except -1
