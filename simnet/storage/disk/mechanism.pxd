from simnet.storage.disk.surface cimport Place, ReadAhead, Surface

cdef class Access(Place):
    cdef public long long sector
    cdef public long long sectors
    cdef public bint write
    cdef public long long submitted_ps
    cdef public long long ready_ps

cdef class Mechanism:
    cdef readonly Surface surface
    cdef readonly ReadAhead ahead
    cdef int policy
    cdef public long long cylinder
    cdef readonly long long head
    cdef readonly long long seeks
    cdef readonly long long seek_cylinders
    cdef readonly long long seek_ps
    cdef readonly long long rotation_ps
    cdef readonly long long transfer_ps
    cpdef int locate(self, Access access) except -1
    cpdef int follow(self, long long now) except -1
    cpdef int freeze(self, long long now) except -1
    cpdef bint holds(self, long long sector, long long end, long long now, bint idle) except? -1
    cpdef int overwrite(self, long long sector, long long end, long long now) except -1
    cpdef int choose(self, list accesses, long long now) except? -1
    cdef long long _cost(self, Access access, long long now) except? -1
    cpdef long long execute(self, Access access, long long now) except? -1
    cdef long long _transfer(self, long long now, Access access) except? -1
