from simnet.kernel.component cimport Component
from simnet.kernel.priority cimport WIRE
from simnet.storage.disk.mechanism cimport Access, Mechanism
from simnet.storage.disk.surface cimport Surface

cdef class Strip(Access)

cdef class StripOwner(Component):
    cpdef int strip_done(self, Strip strip) except -1

cdef class Strip(Access):
    cdef public StripOwner owner
    cdef public object tag
    cdef public int index

cdef class SasPath:
    cdef readonly str name
    cdef readonly long long bytes_s
    cdef long long sector_ps
    cdef readonly long long free_ps
    cdef readonly long long bytes
    cpdef long long book(self, long long now, long long sectors) except? -1

cdef class Pdisk(Component):
    cdef readonly Surface surface
    cdef readonly Mechanism mechanism
    cdef readonly SasPath lane
    cdef readonly SasPath adapter
    cdef int nr_requests
    cdef readonly int queue_depth
    cdef bint deadline
    cdef list queue
    cdef list reads
    cdef list writes
    cdef list served
    cdef readonly long long hits
    cdef Strip following
    cdef int batching
    cdef int starved
    cdef Strip active
    cdef long long event
    cdef long long begun_ps
    cdef long long bus_free_ps
    cdef readonly long long held
    cdef readonly long long largest
    cdef long long changed_ps
    cdef readonly long long held_ps
    cdef readonly long long commands
    cdef readonly long long read_sectors
    cdef readonly long long written_sectors
    cdef readonly long long busy_ps
    cdef readonly bint failed
    cpdef int submit(self, Strip strip) except -1
    cpdef void on_event(self, int kind, long long arg) except *
    cdef int _count(self, long long change) except -1
    cdef int _dispatch(self) except -1
    cdef int _oldest(self) except -1
    cdef bint _writes_starved(self) except -1
    cdef Strip _begin(self, list waiting)
    cdef Strip _next_above(self, list waiting, Strip strip)
    cdef int _complete(self, Strip strip) except -1
    cdef int _serve(self, Strip strip) except -1
    cdef long long _lanes(self, long long end_ps, long long sectors) except? -1
    cdef int _take(self, Strip strip) except -1
    cdef int _start(self) except -1
    cdef int _execute(self, Strip strip) except -1

cpdef Strip new_strip(StripOwner owner, object tag, int index, long long sector, long long sectors, bint write)
